"""What a check of the doctor is, and the words in which it answers."""

import enum
from collections.abc import Callable
from dataclasses import dataclass

from nemutator_ctl.doctor import readings
from nemutator_ctl.doctor.facts import DoctorFacts, Text, Unread

DISTRUSTED = "its content is not as Linux writes it"


class State(enum.StrEnum):
    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"
    """Nothing works without it."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    state: State
    found: str
    """May hold strangers' text."""
    lost: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    purpose: str
    judge: Callable[[DoctorFacts], CheckResult]


def ok(found: str) -> CheckResult:
    return CheckResult(State.OK, found)


def limited(found: str, *, lost: str, remedy: str) -> CheckResult:
    return CheckResult(State.LIMITED, found, lost, remedy)


def missing(found: str, *, lost: str, remedy: str) -> CheckResult:
    return CheckResult(State.MISSING, found, lost, remedy)


def ok_if(well: bool, found: str, *, lost: str, remedy: str) -> CheckResult:
    return ok(found) if well else limited(found, lost=lost, remedy=remedy)


def unclear(read: object, lost: str) -> CheckResult:
    found = read.reason if isinstance(read, Unread) else DISTRUSTED
    return limited(
        found, lost=lost, remedy="run `nemutator doctor` as root, outside of a container"
    )


def number(text: Text) -> tuple[int | None, str]:
    """A setting of the kernel, and how to show it."""
    if isinstance(text, Unread):
        return None, text.reason
    value = readings.number(text)
    return value, DISTRUSTED if value is None else str(value)
