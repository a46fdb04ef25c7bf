"""What the containers of a pod ask for, and the plan of a pod whose containers ask for other amounts.

Where nothing but one mutation and our init container depends on amounts, pods that differ in nothing else are planned for once:
the same fields are written, with other texts. Whatever would be written elsewhere, or said to anybody, is planned for anew.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.mutations import resources
from nemutator_controller.mutations.advisor import Side
from nemutator_controller.mutations.amount_trials import Ready, Texts, asked_in
from nemutator_controller.mutations.decisions import Edit, Maybe
from nemutator_controller.mutations.edits import Author
from nemutator_controller.mutations.injection import INIT_CONTAINER, like_the_largest
from nemutator_controller.mutations.operations import Operation
from nemutator_controller.mutations.paths import escaped, named
from nemutator_controller.mutations.qos import COUNTED, quantity, standing
from nemutator_controller.mutations.resource_bounds import Growth, ResourceBounds, growth_of
from nemutator_controller.mutations.resources import Sizing

ContainerAmounts = tuple[Texts, ...]

_LISTS = ("containers", "initContainers")
_OURS = str(named("initContainers", INIT_CONTAINER))
_AMOUNT = re.compile(
    r"containers\[name=([-a-z0-9]+)\]\.resources\.(requests|limits)\.(.+)", re.DOTALL
)


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


WrittenAmount = tuple[Maybe, tuple[str], Author]
"""What was there before, what is there afterwards, and who writes it."""


class _Place(NamedTuple):
    """Of one amount that a plan writes."""

    container: int
    side: str
    resource: str
    edit: int
    """Its index, and so is the next."""
    operation: int
    replaces: bool
    """Whether the pod asked for any before."""


class AmountPlaces:
    """Where a plan writes what depends on amounts of containers."""

    __slots__ = ("_amounts", "_ours")

    def __init__(self, amounts: Sequence[_Place], ours: Sequence[tuple[int, int, bool]]) -> None:
        self._amounts = amounts
        self._ours = ours
        """Of our init container, its edit and its operation, and whether that writes a list of it."""

    @classmethod
    def found(
        cls, edits: Sequence[Edit], operations: Sequence[Operation], names: Sequence[str]
    ) -> "AmountPlaces | None":
        """Those of a plan that was made for containers of these *names*; None: they are not what is expected."""
        written_at = {
            each["path"]: index
            for index, each in enumerate(operations)
            if each["op"] in ("add", "replace")
        }

        def writes(pointer: str, value: object) -> int | None:
            at = written_at.get(pointer)
            return at if at is not None and operations[at]["value"] == value else None

        amounts: list[_Place] = []
        ours: list[tuple[int, int, bool]] = []
        for index, edit in enumerate(edits):
            if edit.verb == resources.VERB:
                found = _AMOUNT.fullmatch(edit.path)
                if found is None or found[1] not in names:
                    return None
                container, side, resource = names.index(found[1]), found[2], found[3]
                pointer = f"/spec/containers/{container}/resources/{side}{escaped(resource)}"
                at = writes(pointer, edit.after[0]) if edit.after else None
                if at is None:
                    return None
                amounts.append(_Place(container, side, resource, index, at, bool(edit.before)))
            elif edit.path == _OURS and edit.after:
                at = writes("/spec/initContainers/0", edit.after[0])
                all_at = writes("/spec/initContainers", [edit.after[0]])
                if at is None and all_at is None:
                    return None
                ours.append((index, all_at or 0, True) if at is None else (index, at, False))
        return cls(tuple(amounts), tuple(ours))

    def resize(
        self,
        edits: list[Edit],
        operations: list[Operation],
        spec: Mapping[str, Any],
        amounts: ContainerAmounts,
        sizing: Sizing | None,
        bounds: ResourceBounds,
    ) -> bool:
        """Whether *edits* and *operations*, which are those of the plan otherwise, have now what is written into a pod that
        has *spec*, with those *amounts*.

        *sizing*: what writes amounts into it, of all that does; None: nothing.
        """
        found = self.written(spec, amounts, sizing, bounds)
        if found is None:
            return False
        made, copied = found
        for place, (before, after, author) in zip(self._amounts, made, strict=True):
            edits[place.edit] = Edit(
                path=edits[place.edit].path,
                before=before,
                after=after,
                verb=author.verb,
                policy=author.policy,
                reason=author.reason,
            )
            _write(operations, place.operation, after[0])
        for at, operation, is_listed in self._ours:
            ours = _with_copied(edits[at].after[0], copied)
            edits[at] = replace(edits[at], after=(ours,))
            _write(operations, operation, [ours] if is_listed else ours)
        return True

    def written(
        self,
        spec: Mapping[str, Any],
        amounts: ContainerAmounts,
        sizing: Sizing | None,
        bounds: ResourceBounds,
    ) -> tuple[Sequence[WrittenAmount], Mapping[str, Any]] | None:
        """What is written at each of these places into a pod that has *spec*, with those *amounts*, and what our init
        container asks for; None: it is not known. Of *spec* nothing else is read than what its containers are called and
        ask for, which of them run on, and its overhead."""
        containers = _objects(spec, "containers")
        ready = _ready(containers, amounts, sizing, bounds)
        if ready is None:
            return None
        pod = {"spec": spec}
        if ready and not resources.may_be(pod, pod, "Pod", ready, bounds):
            return None
        places = iter(self._amounts)
        made: list[WrittenAmount] = []
        for index, container in enumerate(containers):
            asked = container.get("resources") or {}
            for side, written in ready.get(container["name"], ()):
                section = asked.get(side.name) or {}
                for step, _, after, author in written:
                    place, now = next(places, None), section.get(step.name)
                    if place is None or place[:3] != (index, side.name, step.name):
                        return None
                    if place.replaces is (now is None):
                        return None
                    made.append((() if now is None else (now,), after, author))
        if next(places, None) is not None:
            return None
        return made, _copied(containers, ready) if self._ours else {}

    @property
    def marks(self) -> int:
        """How many there are to be written."""
        return 3 * len(self._amounts) + 1

    def mark(self, edits: list[Edit], operations: list[Operation], marks: Iterator[str]) -> None:
        """Write *marks* into *edits* and *operations*, which are those of the plan: for each amount those of what was there
        before, of what is there afterwards and of its reason, and one for what our init container asks for."""
        for place in self._amounts:
            before, after, reason = next(marks), next(marks), next(marks)
            edits[place.edit] = replace(
                edits[place.edit],
                before=(before,) if place.replaces else (),
                after=(after,),
                reason=reason,
            )
            _write(operations, place.operation, after)
        asked = next(marks)
        for at, operation, is_listed in self._ours:
            ours = _with_copied(edits[at].after[0], asked)
            edits[at] = replace(edits[at], after=(ours,))
            _write(operations, operation, [ours] if is_listed else ours)


def growth_by(edits: Sequence[Edit], spec: Mapping[str, Any]) -> tuple[Growth, ...] | None:
    """What a pod that has *spec* asks for more after those of *edits* that policies make of amounts; None: it is not
    known."""
    instead: dict[str, dict[Side, dict[str, Quantity]]] = {}
    for edit in edits:
        if edit.verb != resources.VERB:
            continue
        found = _AMOUNT.fullmatch(edit.path)
        amount = quantity(edit.after[0]) if found and edit.after else None
        if found is None or amount is None:
            return None
        side: Side = "requests" if found[2] == "requests" else "limits"
        instead.setdefault(found[1], {}).setdefault(side, {})[found[3]] = amount
    if not instead:
        return ()
    try:
        return growth_of({"spec": spec}, "Pod", instead)
    except (AttributeError, TypeError):
        # A stranger may send anything. What is wrong with it is said by who plans for it.
        return None


def _ready(
    containers: Sequence[Mapping[str, Any]],
    amounts: ContainerAmounts,
    sizing: Sizing | None,
    bounds: ResourceBounds,
) -> dict[str, Ready] | None:
    """What is written into *containers*, by their names; None: it is not known."""
    ready: dict[str, Ready] = {}
    if sizing is not None:
        # Init containers come last, and nobody gives them other amounts.
        for each, texts in zip(containers, amounts, strict=False):
            if sizing.chosen(each["name"]):
                found = sizing.ready_of(texts, bounds)
                if found is None:
                    return None
                ready[each["name"]] = found
    return ready


def _write(operations: list[Operation], at: int, value: object) -> None:
    operations[at] = {**operations[at], "value": value}


def _copied(containers: Sequence[Mapping[str, Any]], ready: Mapping[str, Ready]) -> Any:
    """What our init container asks for beside *containers*, which get what is *ready*."""
    made = [
        {"resources": _with(each.get("resources") or {}, ready.get(each["name"], ()))}
        for each in containers
    ]
    return like_the_largest({"containers": made})


def _with_copied(before: Mapping[str, Any], copied: Any) -> Any:
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
