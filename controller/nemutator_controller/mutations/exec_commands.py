"""The verb `env`: containers are started by nemutator-exec, with the variables that their pod declares.

A program's variables are given to it when it is started, and kubelet knows no values. So the command of
a container becomes `nemutator-exec -- command…`, which asks the agent and then becomes that command. This
needs a command that is known: the container's, or that of its image where the brain reads images.
"""

import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace
from nemutator_common import names

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.image_commands import (
    ImageCommand,
    ImageCommands,
    NoImageCommand,
)
from nemutator_controller.mutations.paths import ItemStep, Json, named

VERB = "env"
VOLUME = names.EXEC_PROGRAM
PROGRAM = f"{names.EXEC_DIRECTORY}/{names.EXEC_PROGRAM}"

DELIVERY = ("--exec-to", names.EXEC_DIRECTORY)
"""Arguments with which our init container puts the program into the volume."""

DELIVERY_MOUNT: Mapping[str, Json] = {"name": VOLUME, "mountPath": names.EXEC_DIRECTORY}

# In memory, because a node's disk may forbid programs. One page more than the program and its next
# version would do; pages are charged when they are written.
_VOLUME: Mapping[str, Json] = {
    "name": VOLUME,
    "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"},
}


@dataclass(frozen=True, slots=True)
class Start:
    """A container, and the command that starts it with its variables."""

    field: str
    container: str
    command: Sequence[str]
    reason: str = ""
    """Where the command comes from, if not from the container."""


@dataclass(frozen=True, slots=True)
class Starts:
    found: tuple[Start, ...] = ()
    warnings: tuple[str, ...] = ()
    awaited: tuple[str, ...] = ()
    """Images whose commands will be known in some seconds."""


def starts_of(
    spec: Json, init_container: str, annotations: Mapping[str, str], images: ImageCommands
) -> Starts:
    """The containers of *spec* that can be started so, and warnings about those that cannot.

    Init containers before ours, of that name, are left alone: they run before the program is there.
    """
    if obstacle := _obstacle(spec, init_container):
        return Starts(warnings=(f"started without the pod's variables: {obstacle}",))
    starts: list[Start] = []
    warnings: list[str] = []
    without: list[str] = []
    awaited: list[str] = []
    for field, container in _after_ours(spec, init_container):
        name = str(container.get("name"))
        key = f"{names.COMMAND_PREFIX}{name}"
        own, given = container.get("command"), annotations.get(key)
        if _is_taken(container):
            warnings.append(f"{names.EXEC_DIRECTORY} is taken in {field}[name={name}]")
        elif own:
            if given is not None:
                warnings.append(f"{key}: not needed, because the container has a command")
            # Somebody may have put a program of their own before ours.
            starts.append(Start(field, name, own if PROGRAM in own else _started(own)))
        elif given is None:
            image = str(container.get("image") or "")
            known = images.of(image)
            if isinstance(known, NoImageCommand):
                without.append(name)
                warnings += [f"image {image}: {known.reason}"] if known.reason else []
                awaited += [image] if known.soon else []
            elif words := _of_image(known, container.get("args")):
                starts.append(Start(field, name, words, f"the entrypoint of {image}"))
            else:
                without.append(name)
                warnings.append(f"image {image}: it has no command, and neither has its container")
        elif words := _words(given):
            starts.append(Start(field, name, _started(words)))
        else:
            warnings.append(f'{key}: expected a JSON array of words, like ["/entrypoint", "serve"]')
    if without:
        # Who has many containers reads at least what to do: a server cuts long warnings.
        warnings.append(
            "without a `command`, or the image's entrypoint as '[\"/entrypoint\"]' in the annotation "
            f"{names.COMMAND_PREFIX}<container>, these start without the pod's variables: "
            f"{', '.join(without)}"
        )
    return Starts(tuple(starts), tuple(warnings), tuple(awaited))


def provide(draft: Draft, author: Author) -> bool:
    """Write the volume for the program; False where somebody has taken it back for this workload."""
    path = named("volumes", VOLUME)
    draft.set(path, dict(_VOLUME), author)
    return bool(draft.value(path))


def apply(draft: Draft, starts: Sequence[Start], author: Author) -> None:
    for start in starts:
        container = named(start.field, start.container)
        mount = container / "volumeMounts" / ItemStep("mountPath", names.EXEC_DIRECTORY)
        draft.set(mount, {**DELIVERY_MOUNT, "readOnly": True}, author)
        if draft.value(mount):
            why = replace(author, reason=start.reason)
            draft.set(container / "command", list(start.command), why)


def _obstacle(spec: Json, init_container: str) -> str:
    """Why no container of the pod can have the program; empty where they can."""
    for volume in _objects(spec, "volumes"):
        if volume.get("name") == VOLUME and volume.get("emptyDir") != _VOLUME["emptyDir"]:
            return f"volumes[name={VOLUME}] is something else: rename it"
    for each in _objects(spec, "initContainers"):
        if each.get("name") == init_container and DELIVERY[0] not in (each.get("args") or ()):
            return (
                f"initContainers[name={init_container}] lacks the arguments {' '.join(DELIVERY)} and "
                f"a volume {VOLUME} there"
            )
    return ""


def _after_ours(spec: Json, init_container: str) -> Iterator[tuple[str, Json]]:
    init_containers = list(_objects(spec, "initContainers"))
    listed = [each.get("name") for each in init_containers]
    first = listed.index(init_container) + 1 if init_container in listed else 0
    yield from (("initContainers", each) for each in init_containers[first:])
    yield from (("containers", each) for each in _objects(spec, "containers"))


def _is_taken(container: Json) -> bool:
    """Whether something of somebody else is mounted where the program goes."""
    for mount in container.get("volumeMounts") or ():
        where = "/" + posixpath.normpath(str(mount.get("mountPath", ""))).lstrip("/")
        if where.startswith(f"{names.EXEC_DIRECTORY}/"):
            return True
        if where == names.EXEC_DIRECTORY and mount.get("name") != VOLUME:
            return True
    return False


def _started(command: Sequence[str]) -> list[str]:
    return [PROGRAM, "--", *command]


def _of_image(known: ImageCommand, arguments: Json) -> list[str]:
    """What starts its image's command as the runtime would; none where there is nothing to start.

    A container's own arguments stand in for those of the image.
    """
    words = known.entrypoint if arguments else known.entrypoint + known.arguments
    if not words and not arguments:
        return []
    # kubelet replaces $(NAME) in what a pod's spec says, and nothing in what an image says.
    return _started([word.replace("$", "$$") for word in words])


def _words(text: str) -> list[str]:
    """The words of a JSON array; none where *text* is something else."""
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        return []
    is_command = isinstance(words, list) and all(isinstance(word, str) for word in words)
    return words if is_command and words and words[0] else []


def _objects(spec: Json, field: str) -> Iterator[Json]:
    yield from (each for each in spec.get(field) or () if isinstance(each, dict))
