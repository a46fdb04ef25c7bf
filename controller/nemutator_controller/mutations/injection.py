"""The verb `containers`: a pod gets its socket, and an init container that fetches its secrets.

What is added passes the `restricted` Pod Security Standard, and costs the scheduler nothing: the
init container asks for what one of the pod's own containers asks for, and init containers run
before the others, so the pod as a whole needs no more than before. For the same reason it is within
every LimitRange and quota that the pod itself is in, and leaves the quality-of-service class alone.
"""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from nemutator_common import names
from nemutator_common.declarations import (
    DeclarationError,
    Declarations,
    from_annotations,
    to_volume,
)

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import FieldStep, ItemStep, Json, Path, named
from nemutator_controller.mutations.qos import quantity

VERB = "containers"
POLICY = "injection"
VOLUME = names.PREFIX
INIT_CONTAINER = "nemutator-init"
MODULE = "nemutator_init"
"""What the agent's image is told to run."""

NOBODY = 65532
"""Runs the init container when the pod does not say who runs its containers."""

_AUTHOR = Author(VERB, POLICY)
_SYSTEM = "kubernetes.io/os"
_COPIED = ("cpu", "memory", "ephemeral-storage")


@dataclass(frozen=True, slots=True)
class Injector:
    image: str
    """Of the agent: the init container is in it."""


ESSENTIAL = frozenset(map(str, (named("volumes", VOLUME), named("initContainers", INIT_CONTAINER))))
"""Paths without which the others are worth nothing: a mount of no volume makes no valid pod."""


class NotInjectedError(Exception):
    """Nothing was written, and why."""


def apply(draft: Draft, injector: Injector) -> list[str]:
    """Write into *draft*; the warnings are for whoever created the pod."""
    spec = _spec(draft)
    declared = declared_by(draft)
    volume, mounts = _volume_name(spec), _mounts(spec)
    _check_name(spec)
    taken = [f"{field}[name={name}]" for field, name, by in mounts if by not in (None, volume)]
    if taken:
        raise NotInjectedError(
            f"{names.POD_DIRECTORY} is taken in {taken[0]}: mount that volume somewhere else"
        )
    path = named("volumes", volume)
    if not draft.value(path):
        csi: dict[str, Json] = {"driver": str(names.CSI_DRIVER)}
        if attributes := to_volume(declared):
            csi["volumeAttributes"] = attributes
        draft.set(path, {"name": volume, "csi": csi}, _AUTHOR)
    if not draft.value(named("initContainers", INIT_CONTAINER)):
        draft.set(
            named("initContainers", INIT_CONTAINER),
            _init_container(spec, injector, volume, declared.run_as_user),
            _AUTHOR,
        )
    for field, name, by in mounts:
        if by is None and name != INIT_CONTAINER:
            mounted = FieldStep("volumeMounts"), ItemStep("mountPath", names.POD_DIRECTORY)
            draft.set(
                Path((*named(field, name).steps, *mounted)),
                {"name": volume, "mountPath": names.POD_DIRECTORY, "readOnly": True},
                _AUTHOR,
            )
    return list(_warnings(declared))


def declared_by(draft: Draft) -> Declarations:
    """What the pod's annotations ask for, and the uid that its containers agree on."""
    annotations: Mapping[str, Json] = {}
    for found in draft.value(Path((FieldStep("metadata"), FieldStep("annotations")))):
        annotations = found or {}
    try:
        declared = from_annotations(
            {key: value for key, value in annotations.items() if isinstance(value, str)}
        )
    except DeclarationError as error:
        raise NotInjectedError(f"annotations: {error}") from error
    return replace(declared, run_as_user=agreed_user(_spec(draft)))


def agreed_user(spec: Json) -> int | None:
    """The one uid of all containers, as far as the pod says; what an image says is not known."""
    users = {
        (each.get("securityContext") or {}).get("runAsUser", _pods(spec).get("runAsUser"))
        for field in ("containers", "initContainers")
        for each in _objects(spec, field)
        if each.get("name") != INIT_CONTAINER
    }
    [user] = users if len(users) == 1 else {None}
    return user if isinstance(user, int) and not isinstance(user, bool) else None


def _spec(draft: Draft) -> Json:
    found = draft.value(Path((FieldStep("containers"),)))
    if not found or not isinstance(found[0], list) or not found[0]:
        raise NotInjectedError("the pod has no containers")
    spec = _whole_spec(draft)
    # Most Windows pods are older than the field `os`.
    systems = (spec.get("os") or {}).get("name"), (spec.get("nodeSelector") or {}).get(_SYSTEM)
    if "windows" in systems:
        raise NotInjectedError("sockets of the agent are for Linux pods only")
    return spec


def _whole_spec(draft: Draft) -> Json:
    fields = ("containers", "initContainers", "volumes", "securityContext", "os", "nodeSelector")
    return {name: value for name in fields for value in draft.value(Path((FieldStep(name),)))}


def _objects(spec: Json, field: str) -> Iterator[Json]:
    yield from (each for each in spec.get(field) or () if isinstance(each, dict))


def _pods(spec: Json) -> Mapping[str, Json]:
    return spec.get("securityContext") or {}


def _volume_name(spec: Json) -> str:
    """Of the pod's own volume of ours, when its author has written one."""
    for volume in _objects(spec, "volumes"):
        if (volume.get("csi") or {}).get("driver") == names.CSI_DRIVER:
            return str(volume.get("name"))
        if volume.get("name") == VOLUME:
            raise NotInjectedError(f"volumes[name={VOLUME}] is something else: rename it")
    return VOLUME


def _check_name(spec: Json) -> None:
    """Two containers of one name make no valid pod, and a stranger's would be run for ours."""
    for field in ("containers", "initContainers"):
        for each in _objects(spec, field):
            ours = field == "initContainers" and MODULE in (each.get("args") or ())
            if each.get("name") == INIT_CONTAINER and not ours:
                raise NotInjectedError(
                    f"{field}[name={INIT_CONTAINER}] is something else: rename it"
                )


def _mounts(spec: Json) -> list[tuple[str, str, str | None]]:
    """List, name, and the volume that is mounted at our place, of each container.

    A mount inside of our place is named by its path: nobody could make its directory there.
    """
    found: list[tuple[str, str, str | None]] = []
    for field in ("containers", "initContainers"):
        for container in _objects(spec, field):
            by = None
            for mount in container.get("volumeMounts") or ():
                where = "/" + posixpath.normpath(str(mount.get("mountPath", ""))).lstrip("/")
                if where == names.POD_DIRECTORY:
                    by = by or str(mount.get("name"))
                elif where.startswith(f"{names.POD_DIRECTORY}/"):
                    by = where
            found.append((field, str(container.get("name")), by))
    return found


def _init_container(spec: Json, injector: Injector, volume: str, user: int | None) -> Json:
    container: dict[str, Json] = {
        "name": INIT_CONTAINER,
        "image": injector.image,
        "args": [MODULE],
        "volumeMounts": [{"name": volume, "mountPath": names.POD_DIRECTORY}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            **_user(_pods(spec), user),
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        # What it says last is what the developer sees in the pod's status.
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    resources = _like_the_largest(spec)
    return container | ({"resources": resources} if resources else {})


def _user(pod: Mapping[str, Json], agreed: int | None) -> dict[str, Json]:
    """Who runs the init container: never root, even where the pod says that root runs the pod."""
    wanted = agreed or NOBODY
    return {} if pod.get("runAsUser") == wanted else {"runAsUser": wanted}


def _like_the_largest(spec: Json) -> Json:
    """Requests and limits of the container that may use the most memory."""

    def memory(container: Json) -> float:
        limits = (container.get("resources") or {}).get("limits") or {}
        limit = quantity(limits.get("memory"))
        return float("inf") if limit is None else limit.nanos

    resources = max(_objects(spec, "containers"), key=memory).get("resources") or {}
    copied = {
        side: {name: section[name] for name in _COPIED if name in section}
        for side in ("requests", "limits")
        if (section := resources.get(side) or {})
    }
    return {side: section for side, section in copied.items() if section}


def _warnings(declared: Declarations) -> Iterator[str]:
    if declared.environment:
        variables = ", ".join(sorted(declared.environment))
        yield (
            f"{variables}: not in the environment of this pod's containers; read them from "
            f"{names.POD_DIRECTORY}/{names.POD_SOCKET} (GET /v1/env), or declare "
            f"{names.SECRET_PREFIX}<name> to get a file"
        )
