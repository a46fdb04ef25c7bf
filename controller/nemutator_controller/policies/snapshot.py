"""All policies at one moment. Never changed: who holds one sees the same until it is done."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from nemutator_controller.policies.model import Policy, PolicyError, policy_of

MOST = 1_000
"""Each costs every pod about a microsecond."""

_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Policies:
    sound: tuple[Policy, ...] = ()
    """By name: the order in which they are applied."""
    faulty: Mapping[str, str] = field(default_factory=lambda: _NONE)
    """Name to what is wrong: they are left aside, and stop nobody else's."""


def snapshot_of(specs: Mapping[str, Any]) -> Policies:
    """From decoded specs by name."""
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
