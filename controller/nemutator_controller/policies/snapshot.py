"""All policies at one moment. A snapshot never changes, so one request sees the same throughout."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from nemutator_controller.mutations.paths import TEMPLATES
from nemutator_controller.policies.model import Policy, PolicyError, policy_of

MOST = 1_000
"""Each policy costs every pod about a microsecond."""

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Policies:
    sound: tuple[Policy, ...] = ()
    """In the order of their names, in which they are applied."""
    faulty: Mapping[str, str] = field(default_factory=lambda: _NONE)
    """What is wrong, by name. Faulty policies are left aside, and do not affect the others."""
    for_pods: tuple[Policy, ...] = field(init=False)
    for_templates: tuple[Policy, ...] = field(init=False)

    def __post_init__(self) -> None:
        for name, word in (("for_pods", "pod"), ("for_templates", "template")):
            chosen = tuple(each for each in self.sound if each.spec.apply_to == word)
            object.__setattr__(self, name, chosen)

    def for_manifest(self, kind: str) -> tuple[Policy, ...]:
        """Those for an object of *kind* where no cluster makes pods of it: of a workload its template is
        changed first, and then what its pods will be."""
        return (*self.for_templates, *self.for_pods) if TEMPLATES.get(kind) else self.for_pods


def snapshot_of(specs: Mapping[str, Any]) -> Policies:
    """A snapshot of decoded *specs*, which are given by name."""
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
    return Policies(tuple(sound), MappingProxyType(faulty))
