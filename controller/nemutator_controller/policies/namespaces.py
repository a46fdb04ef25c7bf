"""Policies by namespace and label: of hundreds, most are for other namespaces or other pods than one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

from nemutator_controller.kube.label_selectors import Operator
from nemutator_controller.policies.matches import names_namespace
from nemutator_controller.policies.model import Policy
from nemutator_controller.policies.readings import UnreadFields, unread_by, write_amounts

MOST_KEPT = 10_000
"""Namespaces. A cluster has fewer; whoever reaches the port can make up more."""

_Label = tuple[str, str]


class PoliciesByLabel(tuple[Policy, ...]):
    """Policies in their order, of which those for a pod are found by its labels."""

    unread: UnreadFields
    """What none of them reads of a pod."""
    write_amounts: bool
    """Whether any of them does, so that it matters what there is room for."""
    _for_any: tuple[int, ...]
    _by_label: Mapping[_Label, Sequence[int]]

    def __new__(cls, policies: Iterable[Policy]) -> Self:
        made = super().__new__(cls, policies)
        for_any: list[int] = []
        by_label: dict[_Label, list[int]] = {}
        for index, policy in enumerate(made):
            needed = next(_needed(policy), None)
            for label in needed or ():
                by_label.setdefault(label, []).append(index)
            for_any += [index] if needed is None else []
        made._for_any, made._by_label = tuple(for_any), by_label
        made.unread, made.write_amounts = unread_by(made), write_amounts(made)
        return made

    def among(self, labels: Mapping[str, str]) -> Sequence[Policy]:
        """Those that do not exclude a pod by its *labels* at first sight, in their order."""
        by_label = self._by_label
        if not by_label:
            return self
        found = [index for label in labels.items() for index in by_label.get(label, ())]
        indexes = sorted((*found, *self._for_any)) if found else self._for_any
        return [self[index] for index in indexes]


def possible(policies: Iterable[Policy], labels: Mapping[str, str]) -> Iterable[Policy]:
    """*policies* without those that a pod's *labels* exclude, where they are to be found by labels."""
    return policies.among(labels) if isinstance(policies, PoliciesByLabel) else policies


class PoliciesByNamespace:
    """The policies for a namespace, chosen once for all of its pods; they never change."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self.all = tuple(policies)
        self._chosen: dict[str, PoliciesByLabel] = {}

    def of(self, namespace: str) -> PoliciesByLabel:
        """Those that do not exclude *namespace* by its name, in their order; its labels may."""
        chosen = self._chosen.get(namespace)
        if chosen is None:
            if len(self._chosen) >= MOST_KEPT:
                self._chosen.clear()
            chosen = PoliciesByLabel(each for each in self.all if names_namespace(each, namespace))
            self._chosen[namespace] = chosen
        return chosen


def _needed(policy: Policy) -> Iterator[Sequence[_Label]]:
    """Of each label that its pods must have, all forms that it may have."""
    for one in policy.pods.requirements:
        if one.operator in (Operator.EQUALS, Operator.IN):
            yield [(one.key, value) for value in one.values]
