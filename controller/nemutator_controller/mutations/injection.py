"""The verb `containers`: a pod gets its socket, and an init container that fetches its secrets.

What is added passes the `restricted` Pod Security Standard, and costs the scheduler nothing: the init
container requests what one of the pod's own containers requests, and runs before them, so the pod as
a whole requests no more than before. For the same reason it keeps to every LimitRange and quota that
the pod itself keeps to, and leaves the quality-of-service class as it is.
"""

import functools
import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nemutator_common import names
from nemutator_common.declarations import (
    DeclarationError,
    Declarations,
    from_annotations,
    to_volume,
)
from nemutator_common.on_rotate import ContainerSignal

from nemutator_controller.mutations import exec_commands
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.exec_commands import Starts
from nemutator_controller.mutations.image_commands import (
    AWAITED,
    NO_IMAGE_COMMANDS,
    ImageCommands,
)
from nemutator_controller.mutations.paths import (
    FieldStep,
    ItemStep,
    Json,
    Path,
    field_path,
    named,
    template_of,
)
from nemutator_controller.mutations.qos import LISTS, quantity

VERB = "containers"
POLICY = "injection"
VOLUME = names.PREFIX
INIT_CONTAINER = "nemutator-init"
MODULE = "nemutator_init"
"""The module that the agent's image runs."""

NOBODY = 65532
"""The user of the init container when the pod names none for its containers."""

_AUTHOR = Author(VERB, POLICY)
_STARTER = Author(exec_commands.VERB, POLICY)
_SYSTEM = "kubernetes.io/os"
DIRECTORY_NAME = posixpath.basename(names.POD_DIRECTORY)
"""Part of every path that leads into our directory."""
_COPIED = ("cpu", "memory", "ephemeral-storage")
_DOMAIN = f"{names.DOMAIN}/"
_LONGEST_KNOWN = 2048
"""Characters of declarations that are kept as they were read."""
_CONTAINERS = field_path("containers")
_ANNOTATIONS = field_path("metadata", "annotations")
_OUR_MOUNT = FieldStep("volumeMounts"), ItemStep("mountPath", names.POD_DIRECTORY)
_UNSAID: Json = object()

_Listed = Sequence[tuple[str, Json]]
"""Containers, each with its list."""


@dataclass(frozen=True, slots=True)
class Injector:
    image: str
    """The agent's image, which has the init container's program."""


ESSENTIAL = frozenset(map(str, (named("volumes", VOLUME), named("initContainers", INIT_CONTAINER))))
"""Paths without which the others are useless: a pod that mounts a missing volume is not valid."""


class NotInjectedError(Exception):
    """Nothing was written; the text says why."""


def apply(
    draft: Draft,
    injector: Injector,
    skipped: Collection[str] = (),
    *,
    images: ImageCommands = NO_IMAGE_COMMANDS,
    required: bool = False,
) -> list[str]:
    """Write into *draft*, but for *skipped* verbs; the warnings are for who creates the pod.

    A pod that requires it rather waits for what will be known soon.
    """
    spec, annotations = _spec(draft), _annotations(draft)
    listed = [(field, each) for field in LISTS for each in _objects(spec, field)]
    declared, attributes = _declared(spec, listed, annotations)
    volume, mounts = _volume_name(spec), list(_mounts(listed))
    _check_name(listed)
    taken = [f"{field}[name={name}]" for field, name, by in mounts if by not in (None, volume)]
    if taken:
        raise NotInjectedError(
            f"{names.POD_DIRECTORY} is taken in {taken[0]}: mount that volume somewhere else"
        )
    path = named("volumes", volume)
    if not draft.value(path):
        csi: dict[str, Json] = {"driver": str(names.CSI_DRIVER)}
        if attributes:
            csi["volumeAttributes"] = dict(attributes)
        draft.set(path, {"name": volume, "csi": csi}, _AUTHOR)
    known = Starts()
    if declared.environment and exec_commands.VERB not in skipped:
        known = exec_commands.starts_of(spec, INIT_CONTAINER, annotations, images)
    if required and known.awaited:
        raise NotInjectedError(f"image {known.awaited[0]}: {AWAITED}")
    starts = known.found
    if starts and not exec_commands.provide(draft, _STARTER):
        starts = ()
    if not draft.value(named("initContainers", INIT_CONTAINER)):
        container = _init_container(spec, injector, volume, declared)
        if starts:
            container["args"] += exec_commands.DELIVERY
            container["volumeMounts"].append(dict(exec_commands.DELIVERY_MOUNT))
        draft.set(named("initContainers", INIT_CONTAINER), container, _AUTHOR)
    for field, name, by in mounts:
        if by is None and name != INIT_CONTAINER:
            draft.set(
                Path((*named(field, name).steps, *_OUR_MOUNT)),
                {"name": volume, "mountPath": names.POD_DIRECTORY, "readOnly": True},
                _AUTHOR,
            )
    exec_commands.apply(draft, starts, _STARTER)
    return [*known.warnings, *_shared_files(spec, listed, declared)]


def _declared(
    spec: Json, listed: _Listed, annotations: Mapping[str, str]
) -> tuple[Declarations, Mapping[str, str]]:
    """What the pod's annotations ask for, with the ids that its containers agree on; and the same as attributes
    of a volume."""
    of_pod = _pods(spec)
    user = _agreed_id(of_pod, listed, "runAsUser")
    group = _agreed_id(of_pod, listed, "runAsGroup")
    fs_group = _id(of_pod.get("fsGroup"))
    ours = tuple(item for item in annotations.items() if item[0].startswith(_DOMAIN))
    # Pods of a workload, and of its next revision, declare the same.
    is_short = sum(len(text) for _, text in ours) <= _LONGEST_KNOWN
    declare = _declarations if is_short else _declarations.__wrapped__
    try:
        declared, attributes = declare(ours, user, group, fs_group)
    except DeclarationError as error:
        raise NotInjectedError(f"annotations: {error}") from error
    to = declared.on_rotate
    if isinstance(to, ContainerSignal) and to.container not in _names(listed):
        raise NotInjectedError(f"annotations: {names.ON_ROTATE}: no container {to.container!r}")
    return declared, attributes


@functools.lru_cache(maxsize=256)
def _declarations(
    annotations: tuple[tuple[str, str], ...],
    user: int | None,
    group: int | None,
    fs_group: int | None,
) -> tuple[Declarations, Mapping[str, str]]:
    declared = from_annotations(dict(annotations))
    declared = replace(declared, run_as_user=user, run_as_group=group, fs_group=fs_group)
    return declared, to_volume(declared)


def _names(listed: _Listed) -> Collection[str]:
    return {str(each.get("name")) for _, each in listed}


def _annotations(draft: Draft) -> Mapping[str, str]:
    annotations: Mapping[str, Json] = {}
    for found in draft.value(_ANNOTATIONS):
        annotations = found or {}
    return {key: value for key, value in annotations.items() if isinstance(value, str)}


def _agreed_id(of_pod: Mapping[str, Json], listed: _Listed, field: str) -> int | None:
    """The one `runAsUser` or `runAsGroup` of all containers, if the pod says so."""
    agreed = _UNSAID
    for _, container in listed:
        if container.get("name") != INIT_CONTAINER:
            own = container.get("securityContext")
            said = own.get(field, of_pod.get(field)) if own else of_pod.get(field)
            said = said if type(said) is int else None
            if agreed is not _UNSAID and agreed != said:
                return None
            agreed = said
    return None if agreed is _UNSAID else agreed


def _ids(spec: Json, listed: _Listed, field: str) -> Mapping[str, int | None]:
    """By container, whose word is the last; what their images say is not known, and None here."""
    of_pod = _pods(spec).get(field)
    return {
        str(name): _id(own.get(field, of_pod) if (own := each.get("securityContext")) else of_pod)
        for _, each in listed
        if (name := each.get("name")) != INIT_CONTAINER
    }


def _id(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _shared_files(spec: Json, listed: _Listed, declared: Declarations) -> Iterator[str]:
    """A warning where files cannot be one user's."""
    if not (declared.secrets or declared.files) or declared.run_as_user is not None:
        return  # All containers agree on that user.
    users = _ids(spec, listed, "runAsUser")
    if len(set(users.values())) < 2:
        return
    given = declared.run_as_group if declared.fs_group is None else declared.fs_group
    readers = f"group {given}" if given else "all of the pod's processes"
    said = ", ".join(
        f"{name}: {'of its image' if user is None else user}" for name, user in [*users.items()][:8]
    )
    yield (
        f"{names.POD_DIRECTORY}/secrets: files are readable for {readers}, because containers run as "
        f"different users ({said}); with one runAsUser for all of them, files are that user's alone"
    )


def _spec(draft: Draft) -> Json:
    has_containers = bool(draft.value(_CONTAINERS))
    # A copy, because what we write goes into the draft's own.
    spec = dict(template_of(draft.manifest, draft.kind)["spec"]) if has_containers else {}
    if not isinstance(spec.get("containers"), list) or not spec["containers"]:
        raise NotInjectedError("the pod has no containers")
    # Most manifests of Windows pods are older than the field `os`.
    systems = (spec.get("os") or {}).get("name"), (spec.get("nodeSelector") or {}).get(_SYSTEM)
    if "windows" in systems:
        raise NotInjectedError("sockets of the agent are for Linux pods only")
    return spec


def _objects(spec: Json, field: str) -> list[Json]:
    return [each for each in spec.get(field) or () if isinstance(each, dict)]


def _pods(spec: Json) -> Mapping[str, Json]:
    return spec.get("securityContext") or {}


def _volume_name(spec: Json) -> str:
    """The name of the volume: the pod's author may have written one with our driver."""
    for volume in _objects(spec, "volumes"):
        if (volume.get("csi") or {}).get("driver") == names.CSI_DRIVER:
            return str(volume.get("name"))
        if volume.get("name") == VOLUME:
            raise NotInjectedError(f"volumes[name={VOLUME}] is something else: rename it")
    return VOLUME


def _check_name(listed: _Listed) -> None:
    """A pod must not have two containers of one name, nor run a stranger's in place of ours."""
    for field, each in listed:
        if each.get("name") == INIT_CONTAINER:
            ours = field == "initContainers" and MODULE in (each.get("args") or ())
            if not ours:
                raise NotInjectedError(
                    f"{field}[name={INIT_CONTAINER}] is something else: rename it"
                )


def _mounts(listed: _Listed) -> Iterator[tuple[str, str, str | None]]:
    """List, name, and the volume that is mounted in our directory, of each container.

    A mount below our directory counts by its path: nobody could make a directory for it there.
    """
    for field, container in listed:
        by = None
        for mount in container.get("volumeMounts") or ():
            text = str(mount.get("mountPath", ""))
            if DIRECTORY_NAME not in text:
                continue  # Making a path plain adds no name to it.
            where = "/" + posixpath.normpath(text).lstrip("/")
            if where == names.POD_DIRECTORY:
                by = by or str(mount.get("name"))
            elif where.startswith(f"{names.POD_DIRECTORY}/"):
                by = where
        yield field, str(container.get("name")), by


def _init_container(spec: Json, injector: Injector, volume: str, declared: Declarations) -> Json:
    wanted, group = declared.run_as_user or NOBODY, declared.run_as_group
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
            # Never root, even where the pod says that root runs the pod.
            **({} if _pods(spec).get("runAsUser") == wanted else {"runAsUser": wanted}),
            # Files may be for that group.
            **({} if group in (None, 0, _pods(spec).get("runAsGroup")) else {"runAsGroup": group}),
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        # The pod's status shows the developer its last lines.
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    resources = like_the_largest(spec)
    return container | ({"resources": resources} if resources else {})


def like_the_largest(spec: Json) -> Json:
    """Requests and limits of the container that may use the most memory."""

    def memory(container: Json) -> float:
        limits = (container.get("resources") or {}).get("limits") or {}
        limit = quantity(limits.get("memory"))
        return float("inf") if limit is None else limit.nanos

    largest: Json = max(_objects(spec, "containers"), key=memory, default={})
    resources = largest.get("resources") or {}
    copied = {
        side: {name: section[name] for name in _COPIED if name in section}
        for side in ("requests", "limits")
        if (section := resources.get(side) or {})
    }
    return {side: section for side, section in copied.items() if section}
