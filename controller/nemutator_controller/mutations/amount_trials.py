"""The amounts of a draft's containers as they would be, while nothing is written; and what was made of such amounts.

Most pods ask for the same few amounts. So what one mutation makes of those of a container is worked out once.
"""

import functools
import itertools
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import NamedTuple

from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.mutations.advisor import Name, Side
from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.mutations.edits import Author, Draft, Member
from nemutator_controller.mutations.paths import (
    LONGEST_NAME,
    FieldStep,
    ItemStep,
    Json,
    Path,
    escaped,
    field_path,
    named,
    value_at,
)
from nemutator_controller.mutations.qos import (
    COUNTED,
    Amounts,
    Class,
    class_with,
    quantity,
    standing,
)

CONTAINERS = field_path("containers")

_RESOURCES = FieldStep("resources")

MOST_KNOWN = 1024
"""Containers that ask for different amounts, of which is kept what one mutation has made of them."""

_LARGEST_KNOWN, LONGEST_KNOWN = 8, 64
"""Amounts, and characters of each."""

_Section = tuple[tuple[str, str], ...]
Texts = tuple[_Section, _Section]
"""Requests and limits."""

_NOTHING: Texts = (), ()

_NOBODYS = Draft({}, "Pod")
"""It stays as it is."""


class Place(NamedTuple):
    """One amount of one container."""

    container: str
    side: Side
    resource: Name

    @property
    def beside(self) -> "Place":
        """The request of this limit, or the limit of this request."""
        side: Side = "limits" if self.side == "requests" else "requests"
        return Place(self.container, side, self.resource)


class MadeAmounts(NamedTuple):
    """What is made of the amounts of one container."""

    written: tuple[tuple[Side, Name, str, str], ...]
    """Where, the text, and its reason, in the order in which they were first set."""
    refused: tuple[tuple[Side, Name, str], ...]
    """What is not done, and why."""


class ReadyAmount(NamedTuple):
    """One amount as it is written, but for the name of its container."""

    step: FieldStep
    pointer: str
    after: tuple[str]
    author: Author


class ReadySection(NamedTuple):
    side: FieldStep
    amounts: tuple[ReadyAmount, ...]


def ready_made(
    key: Texts, made: MadeAmounts, author: Callable[[str], Author]
) -> tuple[ReadySection, ...] | None:
    """What is *made* of the amounts of *key*, if it can be written without any more thought: nothing is refused, and
    the class of no pod changes by it. *author*: of an amount with that reason."""
    if made.refused or not _keeps_standing(key, made):
        return None
    sections = itertools.groupby(made.written, key=itemgetter(0))
    return tuple(
        ReadySection(FieldStep(side), tuple(_ready(each, author) for each in written))
        for side, written in sections
    )


Ready = tuple[ReadySection, ...]
"""All that is written into one container."""


def written_at_once(
    draft: Draft,
    chosen: Callable[[str], bool],
    ready_of: Callable[[Texts], Ready | None],
    may_be: Callable[[Mapping[str, Ready]], bool],
) -> bool:
    """Whether all that is to be made of the *chosen* containers of *draft* is ready and may be, and is written. Else
    nothing is.

    *ready_of*: what is made of such amounts, if that needs no more thought. *may_be*: whether the pod may have all that
    is made, by the names of containers.
    """
    listed = draft.value(CONTAINERS)
    if draft.manifest is not draft.unchanged and not (
        # Somebody may have written amounts that the pod's author has not.
        listed and listed[0] is next(iter(value_at(draft.unchanged, CONTAINERS, draft.kind)), None)
    ):
        return False
    found: dict[str, Ready] = {}
    for container in (listed[0] if listed else None) or ():
        name = container.get("name") if type(container) is dict else None
        if type(name) is not str or not chosen(name):
            continue
        key = asked_in(container)
        ready = ready_of(key) if key is not None else None
        if ready is None or name in found or len(name) > LONGEST_NAME:
            return False
        found[name] = ready
    if not may_be(found):
        return False
    for name, sections in found.items():
        of_container = (*CONTAINERS.steps, ItemStep("name", name), _RESOURCES)
        for side, amounts in sections:
            steps = (*of_container, side)
            draft.set_members(
                Path(steps),
                [
                    Member(Path((*steps, step)), step.name, pointer, after, author)
                    for step, pointer, after, author in amounts
                ],
            )
    return True


def _ready(written: tuple[Side, Name, str, str], author: Callable[[str], Author]) -> ReadyAmount:
    _, resource, text, reason = written
    return ReadyAmount(FieldStep(resource), escaped(resource), (text,), author(reason))


def _keeps_standing(key: Texts, made: MadeAmounts) -> bool:
    """Whether a container counts as before for its pod's class."""
    requests, limits = map(dict, key)
    sides = {"requests": dict(requests), "limits": dict(limits)}
    changed = set()
    for side, resource, text, _ in made.written:
        sides[side][resource] = text
        changed.add(resource)
    return all(
        name not in changed
        or standing(limits.get(name), requests.get(name))
        == standing(sides["limits"].get(name), sides["requests"].get(name))
        for name in COUNTED
    )


class AmountTrial:
    """The amounts of a draft as they would be, without writing any."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._sections: dict[tuple[str, Side], Json] = {}
        self.written: dict[Place, tuple[str, str]] = {}
        """Text and reason of each amount, in the order in which they were first set."""
        self.again: set[Place] = set()
        """Those that were set more than once."""

    def found(self, place: Place) -> Quantity | None:
        if place in self.written:
            return quantity(self.written[place][0])
        now = self.before(place)
        return quantity(now[0]) if now else None

    def asked_for(self, place: Place) -> Quantity | None:
        """What the pod's author wrote there, whatever policies have made of it."""
        draft = self._draft
        if draft.manifest is draft.unchanged:
            now = self.before(place)  # It is looked up already.
        else:
            now = value_at(draft.unchanged, amount_path(*place), draft.kind)
        return quantity(now[0]) if now else None

    def before(self, place: Place) -> Maybe:
        """What the draft has there. Each section of a container is looked up once."""
        of = place.container, place.side
        if of in self._sections:
            section = self._sections[of]
        else:
            found = self._draft.value(_section_of(*of))
            section = self._sections[of] = found[0] if found else None
        if section is None:
            return ()
        if type(section) is not dict:
            return self._draft.value(amount_path(*place))  # raises
        return (section[place.resource],) if place.resource in section else ()

    def set(self, place: Place, text: str, reason: str) -> None:
        is_set = place in self.written
        now = self.written[place][:1] if is_set else self.before(place)
        if now != (text,) and not self._draft.leaves(amount_path(*place)):
            self.written[place] = text, reason
            if is_set:
                self.again.add(place)

    def quality(self) -> Class:
        """The class of the pod with these amounts."""
        texts: dict[str, dict[Side, dict[str, Quantity | str]]] = {}
        for (container, side, resource), (text, _) in self.written.items():
            texts.setdefault(container, {}).setdefault(side, {})[resource] = text
        return class_with(self._draft.manifest, self._draft.kind, texts)

    def amounts(self) -> dict[str, dict[Side, Amounts]]:
        """Those that were set, by container."""
        found: dict[str, dict[Side, Amounts]] = {}
        for place, (text, _) in self.written.items():
            amount = quantity(text)
            if amount is not None:
                sides = found.setdefault(place.container, {})
                sides.setdefault(place.side, {})[place.resource] = amount
        return found


class ContainerTrial(AmountTrial):
    """The same of one container that asks for *texts*, of which nobody has written any."""

    def __init__(self, texts: Texts) -> None:
        super().__init__(_NOBODYS)
        requests, limits = map(dict, texts)
        self._texts: Mapping[Side, Mapping[str, str]] = {"requests": requests, "limits": limits}

    def before(self, place: Place) -> Maybe:
        text = self._texts[place.side].get(place.resource)
        return () if text is None else (text,)

    def asked_for(self, place: Place) -> Quantity | None:
        return quantity(self._texts[place.side].get(place.resource))


def asked_in(container: Json) -> Texts | None:
    """What *container* asks for; None: it cannot be known again."""
    resources = container.get("resources")
    if not resources:
        return _NOTHING
    if type(resources) is not dict:
        return None
    requests, limits = _texts(resources.get("requests")), _texts(resources.get("limits"))
    return None if requests is None or limits is None else (requests, limits)


def _texts(section: Json) -> _Section | None:
    """What *section* says; None: it is more than people say."""
    if section is None:
        return ()
    if type(section) is not dict or len(section) > _LARGEST_KNOWN:
        return None
    for name, text in section.items():
        if type(text) is not str or len(text) > LONGEST_KNOWN or len(name) > LONGEST_KNOWN:
            return None
    return tuple(section.items())


@functools.lru_cache(maxsize=1024)
def amount_path(container: str, side: Side, resource: Name) -> Path:
    return _section_of(container, side) / resource


@functools.lru_cache(maxsize=1024)
def _section_of(container: str, side: Side) -> Path:
    return named("containers", container) / "resources" / side
