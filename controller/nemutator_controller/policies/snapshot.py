"""All policies at one moment. A snapshot never changes, so one request sees the same throughout."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from nemutator_controller.mutations.paths import TEMPLATES
from nemutator_controller.policies.model import Policy, PolicyError, policy_of
from nemutator_controller.policies.namespaces import PoliciesByNamespace
from nemutator_controller.policies.time_windows import holds

MOST = 1_000
"""Each policy costs the pods of the namespaces that it does not exclude about a microsecond."""

FOLLOWED_STILL = " (its last good form is followed)"

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Policies:
    sound: tuple[Policy, ...] = ()
    """In the order of their names, in which they are applied."""
    faulty: Mapping[str, str] = field(default_factory=lambda: _NONE)
    """What is wrong, by name. Faulty policies are left aside, and do not affect the others."""
    for_pods: tuple[Policy, ...] = field(init=False)
    for_templates: tuple[Policy, ...] = field(init=False)
    _for_pods_of: PoliciesByNamespace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, word in (("for_pods", "pod"), ("for_templates", "template")):
            chosen = tuple(each for each in self.sound if each.spec.apply_to == word)
            object.__setattr__(self, name, chosen)
        object.__setattr__(self, "_for_pods_of", PoliciesByNamespace(self.for_pods))

    def for_pods_of(self, namespace: str) -> tuple[Policy, ...]:
        """Those for pods that do not exclude *namespace* by its name."""
        return self._for_pods_of.of(namespace)

    def at(self, now: float) -> "Policies":
        """Those that are followed at that time."""
        if all(each.spec.when is None for each in self.sound):
            return self
        due = (each for each in self.sound if each.spec.when is None or holds(each.spec.when, now))
        return Policies(tuple(due), self.faulty)

    def for_manifest(self, kind: str) -> tuple[Policy, ...]:
        """Those for an object of *kind* where no cluster makes pods of it: of a workload its template is
        changed first, and then what its pods will be."""
        return (*self.for_templates, *self.for_pods) if TEMPLATES.get(kind) else self.for_pods


NO_POLICIES = Policies()


def snapshot_of(specs: Mapping[str, Any], before: Policies = NO_POLICIES) -> Policies:
    """A snapshot of decoded *specs*, which are given by name.

    Of one that has become faulty the last good form is followed, if it was among those *before*.
    """
    good = {policy.name: policy for policy in before.sound}
    sound: list[Policy] = []
    faulty: dict[str, str] = {}
    for name in sorted(specs):
        if len(sound) >= MOST:
            faulty[name] = f"more than {MOST} policies: merge some"
            continue
        try:
            sound.append(policy_of(name, specs[name]))
        except PolicyError as error:
            faulty[name] = str(error)
            if name in good:
                sound.append(good[name])
                faulty[name] += FOLLOWED_STILL
    return Policies(tuple(sound), MappingProxyType(faulty))
