"""What the containers of a pod ask for, and the plan of a pod whose containers ask for other amounts.

Where nothing but one mutation and our init container depends on amounts, pods that differ in nothing else are planned for once:
the same fields are written, with other texts. Whatever would be written elsewhere, or said to anybody, is planned for anew.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from nemutator_controller.mutations import resources
from nemutator_controller.mutations.amount_trials import Ready, Texts, amount_path, asked_in
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.injection import INIT_CONTAINER, like_the_largest
from nemutator_controller.mutations.operations import Operation
from nemutator_controller.mutations.paths import escaped, named
from nemutator_controller.mutations.qos import COUNTED, standing
from nemutator_controller.mutations.resource_bounds import ResourceBounds
from nemutator_controller.mutations.resources import Sizing

ContainerAmounts = tuple[Texts, ...]

_LISTS = ("containers", "initContainers")
_OURS = str(named("initContainers", INIT_CONTAINER))


def container_amounts(spec: Mapping[str, Any]) -> ContainerAmounts | None:
    """In the order of containers; None: some cannot be known again, or the pod asks for all of them together."""
    if spec.get("resources"):
        return None
    found: list[Texts] = []
    for field in _LISTS:
        listed = spec.get(field)
        for each in listed if type(listed) is list else ():
            texts = asked_in(each) if type(each) is dict else None
            if texts is None:
                return None
            found.append(texts)
    return tuple(found)


def shapes_of(spec: Mapping[str, Any], amounts: ContainerAmounts) -> list[object]:
    """What of the *amounts* of each container the plan depends on all the same: what is asked for, and what that is for
    the pod's class."""
    containers = (each for field in _LISTS for each in _objects(spec, field))
    return [_shape(each, texts) for each, texts in zip(containers, amounts, strict=True)]


def _shape(container: Mapping[str, Any], texts: Texts) -> object:
    asked = container.get("resources") or {}
    beside = {key: value for key, value in asked.items() if key not in ("requests", "limits")}
    return (_kind(texts), beside) if beside else _kind(texts)


@functools.lru_cache(maxsize=1024)
def _kind(texts: Texts) -> object:
    # Containers of most pods ask for what others do.
    requests, limits = map(dict, texts)
    counts = [standing(limits.get(name), requests.get(name)) for name in COUNTED]
    return sorted(requests), sorted(limits), counts


def resized(
    edits: Sequence[Edit],
    operations: Sequence[Operation],
    spec: Mapping[str, Any],
    amounts: ContainerAmounts,
    sizing: Sizing | None,
    bounds: ResourceBounds,
) -> tuple[tuple[Edit, ...], tuple[Operation, ...]] | None:
    """*edits* and *operations* of a pod that has *spec* instead, with those *amounts*; None: it is not known what they are.

    *sizing*: what writes amounts into it, of all that does; None: nothing.
    """
    containers = _objects(spec, "containers")
    ready: dict[str, Ready] = {}
    if sizing is not None:
        # Init containers come last, and nobody gives them other amounts.
        for each, texts in zip(containers, amounts, strict=False):
            if sizing.chosen(each["name"]):
                found = sizing.ready_of(texts, bounds)
                if found is None:
                    return None
                ready[each["name"]] = found
        pod = {"spec": spec}
        if not resources.may_be(pod, pod, "Pod", ready, bounds):
            return None
    written = _Written(operations)
    made = [edit for edit in edits if edit.verb != resources.VERB]
    sized = list(_sized(containers, ready))
    before = [edit for edit in edits if edit.verb == resources.VERB]
    if [edit.path for _, edit in sized] != [edit.path for edit in before]:
        return None
    for (pointer, edit), other in zip(sized, before, strict=True):
        is_alike = bool(edit.before) == bool(other.before)
        if not (is_alike and written.replace(pointer, other.after[0], edit.after[0])):
            return None
    for index, edit in enumerate(made):
        if edit.path == _OURS and edit.after:
            other = _init_container(edit.after[0], containers, ready)
            if not (
                written.replace("/spec/initContainers/0", edit.after[0], other)
                or written.replace("/spec/initContainers", [edit.after[0]], [other])
            ):
                return None
            made[index] = replace(edit, after=(other,))
    new = iter(edit for _, edit in sized)
    rest = iter(made)
    in_order = [next(new) if edit.verb == resources.VERB else next(rest) for edit in edits]
    return tuple(in_order), tuple(written.operations)


def _sized(
    containers: Sequence[Mapping[str, Any]], ready: Mapping[str, Ready]
) -> Sequence[tuple[str, Edit]]:
    """What is written into them, each with its pointer."""
    found: list[tuple[str, Edit]] = []
    for index, container in enumerate(containers):
        name = container["name"]
        for side, amounts in ready.get(name, ()):
            section = (container.get("resources") or {}).get(side.name) or {}
            around = f"/spec/containers/{index}/resources{escaped(side.name)}"
            for step, pointer, after, author in amounts:
                now = section.get(step.name)
                edit = Edit(
                    path=str(amount_path(name, side.name, step.name)),
                    before=() if now is None else (now,),
                    after=after,
                    verb=author.verb,
                    policy=author.policy,
                    reason=author.reason,
                )
                found.append((around + pointer, edit))
    return found


def _init_container(
    before: Mapping[str, Any], containers: Sequence[Mapping[str, Any]], ready: Mapping[str, Ready]
) -> Any:
    """Ours, with what it copies of containers that are like *containers*, and get what is *ready*."""
    made = [
        {"resources": _with(each.get("resources") or {}, ready.get(each["name"], ()))}
        for each in containers
    ]
    copied = like_the_largest({"containers": made})
    rest = {key: value for key, value in before.items() if key != "resources"}
    return rest | ({"resources": copied} if copied else {})


def _with(asked: Mapping[str, Any], ready: Ready) -> Mapping[str, Any]:
    sides = dict(asked)
    for side, amounts in ready:
        written = {each.step.name: each.after[0] for each in amounts}
        sides[side.name] = {**(sides.get(side.name) or {}), **written}
    return sides


def _objects(spec: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    listed = spec.get(field)
    return listed if type(listed) is list else []


class _Written:
    """Operations of which some get other values."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = list(operations)
        self._at = {
            each["path"]: index
            for index, each in enumerate(operations)
            if each["op"] in ("add", "replace")
        }

    def replace(self, pointer: str, before: object, after: object) -> bool:
        """Whether *before* was what is written there, and *after* is it now."""
        at = self._at.get(pointer)
        if at is None or self.operations[at]["value"] != before:
            return False
        self.operations[at] = {**self.operations[at], "value": after}
        return True
