"""Policies by namespace: of hundreds, most are for other namespaces than that of a pod."""

from collections.abc import Iterable

from nemutator_controller.policies.matches import names_namespace
from nemutator_controller.policies.model import Policy

MOST_KEPT = 10_000
"""Namespaces. A cluster has fewer; whoever reaches the port can make up more."""


class PoliciesByNamespace:
    """The policies for a namespace, chosen once for all of its pods; they never change."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self.all = tuple(policies)
        self._chosen: dict[str, tuple[Policy, ...]] = {}

    def of(self, namespace: str) -> tuple[Policy, ...]:
        """Those that do not exclude *namespace* by its name, in their order; its labels may."""
        chosen = self._chosen.get(namespace)
        if chosen is None:
            if len(self._chosen) >= MOST_KEPT:
                self._chosen.clear()
            chosen = tuple(each for each in self.all if names_namespace(each, namespace))
            self._chosen[namespace] = chosen
        return chosen
