"""All policies at one moment. A snapshot never changes, so one request sees the same throughout."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec

from nemutator_controller.mutations.paths import TEMPLATES
from nemutator_controller.policies.model import Policy, PolicyError, policy_of
from nemutator_controller.policies.namespaces import PoliciesByLabel, PoliciesByNamespace
from nemutator_controller.policies.time_windows import holds

MOST = 1_000
"""Each policy costs the pods of the namespaces that it does not exclude about a microsecond."""

FOLLOWED_STILL = " (its last good form is followed)"

InSeason = frozenset[str]
"""Names of policies whose seasons it is, and `RESIZES_HELD` while a season holds resizes back."""

RESIZES_HELD = "resizes: Hold"
"""No policy has such a name."""

NO_SEASON: InSeason = frozenset()

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
    _timed: bool = field(init=False, repr=False, compare=False)
    _at: dict[tuple[int, InSeason], "Policies"] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """By minute, which is as fine as times are, and by seasons: that of the last request alone."""

    def __post_init__(self) -> None:
        for name, words in (("for_pods", ("pod", "live")), ("for_templates", ("template",))):
            chosen = tuple(each for each in self.sound if each.spec.apply_to in words)
            object.__setattr__(self, name, chosen)
        timed = any(each.spec.when is not None or each.held_with_resizes for each in self.sound)
        object.__setattr__(self, "_timed", timed)
        object.__setattr__(self, "_for_pods_of", PoliciesByNamespace(self.for_pods))

    def for_pods_of(self, namespace: str) -> PoliciesByLabel:
        """Those for pods that do not exclude *namespace* by its name."""
        return self._for_pods_of.of(namespace)

    def at(self, now: float, in_season: InSeason) -> "Policies":
        """Those that are followed at that time, where *in_season* are the names of those whose season it is."""
        if not self._timed:
            return self
        moment = int(now // 60), in_season
        found = self._at.get(moment)
        if found is None:
            due = (_at(policy, now, in_season) for policy in self.sound)
            self._at.clear()
            found = self._at[moment] = Policies(tuple(filter(None, due)), self.faulty)
            object.__setattr__(found, "_timed", False)
        return found

    def for_manifest(self, kind: str) -> tuple[Policy, ...]:
        """Those for an object of *kind* where no cluster makes pods of it: of a workload its template is
        changed first, and then what its pods will be."""
        return (*self.for_templates, *self.for_pods) if TEMPLATES.get(kind) else self.for_pods


def _at(policy: Policy, now: float, in_season: InSeason) -> Policy | None:
    """What is left of it at that time."""
    when = policy.spec.when
    is_held = policy.held_with_resizes and RESIZES_HELD in in_season
    if not is_held and (when is None or holds(when, now, in_season=policy.name in in_season)):
        return policy
    return silent(policy) if policy.alone else None


def silent(policy: Policy) -> Policy:
    """It is for the same pods, and says nothing of them."""
    return msgspec.structs.replace(policy, first=(), actions=())


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
