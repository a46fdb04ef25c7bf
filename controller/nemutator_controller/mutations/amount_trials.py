"""The amounts of a draft's containers as they would be, while nothing is written; and what was made of such amounts.

Most pods ask for the same few amounts. So what one mutation makes of those of a container is worked out once.
"""

import functools
from typing import NamedTuple

from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.mutations.advisor import Name, Side
from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.paths import Json, Path, field_path, named, value_at
from nemutator_controller.mutations.qos import Amounts, Class, class_with, quantity
from nemutator_controller.mutations.resource_bounds import SIDES

CONTAINERS = field_path("containers")

MOST_KNOWN = 1024
"""Containers that ask for different amounts, of which is kept what one mutation has made of them."""

_LARGEST_KNOWN, _LONGEST_KNOWN = 8, 64
"""Amounts, and characters of each."""

_Section = tuple[tuple[str, str], ...]
Texts = tuple[_Section, _Section]
"""Requests and limits."""


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


class KnownAmounts:
    """What was made of containers' amounts by the same mutation: most pods ask for the same few."""

    def __init__(self) -> None:
        self.of: dict[Texts, MadeAmounts] = {}

    def keep(self, key: Texts, made: MadeAmounts) -> None:
        if len(self.of) >= MOST_KNOWN:
            self.of.clear()
        self.of[key] = made


class AmountTrial:
    """The amounts of a draft as they would be, without writing any."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._sections: dict[tuple[str, Side], Json] = {}
        self._tried: set[str] = set()
        self.written: dict[Place, tuple[str, str]] = {}
        """Text and reason of each amount, in the order in which they were first set."""
        self.again: set[Place] = set()
        """Those that were set more than once."""

    def asked_in(self, name: str, container: Json) -> Texts | None:
        """What a container asks for, where nobody but the pod's author has written it; None: somebody has, or
        it cannot be known again."""
        if name in self._tried:
            return None  # A path leads to the first container of a name.
        self._tried.add(name)
        draft = self._draft
        resources = container.get("resources")
        if draft.manifest is not draft.unchanged:
            for listed in value_at(draft.unchanged, CONTAINERS, draft.kind):
                was = _named(listed, name)
                if was is not container and (was or {}).get("resources") != resources:
                    return None
        requests, limits = (_texts(resources.get(side) if resources else None) for side in SIDES)
        return None if requests is None or limits is None else (requests, limits)

    def take(self, name: str, made: MadeAmounts) -> None:
        """Set what is known to be made there."""
        for side, resource, text, reason in made.written:
            self.written[Place(name, side, resource)] = text, reason

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


def _named(listed: Json, name: str) -> Json:
    return next((x for x in listed or () if isinstance(x, dict) and x.get("name") == name), None)


def _texts(section: Json) -> _Section | None:
    """What *section* says; None: it is more than people say."""
    if section is None:
        return ()
    if type(section) is not dict or len(section) > _LARGEST_KNOWN:
        return None
    for name, text in section.items():
        if type(text) is not str or len(text) > _LONGEST_KNOWN or len(name) > _LONGEST_KNOWN:
            return None
    return tuple(section.items())


@functools.lru_cache(maxsize=1024)
def amount_path(container: str, side: Side, resource: Name) -> Path:
    return _section_of(container, side) / resource


@functools.lru_cache(maxsize=1024)
def _section_of(container: str, side: Side) -> Path:
    return named("containers", container) / "resources" / side
