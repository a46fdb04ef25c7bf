"""All policies at one moment. A snapshot never changes, so one request sees the same throughout."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

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
