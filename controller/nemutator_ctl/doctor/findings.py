"""Facts of a machine → what nemutator makes of each.

Thresholds of kernels are those that introduced a feature; distributions carry some of them back,
so a version alone is never more than a limit.
"""

from dataclasses import dataclass

from nemutator_ctl.doctor import profiles, rights, system
from nemutator_ctl.doctor.checks import State
from nemutator_ctl.doctor.facts import DoctorFacts

CHECKS = (*system.CHECKS, rights.CHECK, *profiles.CHECKS)
"""In the order of the answers: first what nemutator needs for everything."""


@dataclass(frozen=True, slots=True)
class Finding:
    check: str
    purpose: str
    state: State
    found: str
    """May hold strangers' text."""
    lost: str = ""
    remedy: str = ""


def examine(facts: DoctorFacts) -> tuple[Finding, ...]:
    """One finding for each check, in their order."""
    results = [(check, check.judge(facts)) for check in CHECKS]
    return tuple(
        Finding(check.name, check.purpose, one.state, one.found[:200], one.lost, one.remedy)
        for check, one in results
    )
