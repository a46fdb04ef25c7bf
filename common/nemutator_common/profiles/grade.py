"""How far the stacks of a profile can be trusted, by what stacks and code themselves show.

A stack is whole when it leads to where its thread or goroutine began. A caller in it is true when the
code there ends in a call of the function that it is said to have called. Both are weighed by samples.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Break = Literal["cut", "user", "gone", "unnamed", "go", "cgo", "native"]
"""Why a stack does not reach its root. cut: it is deeper than is kept. user: the process's own stack
could not be read. gone: the process had ended before names were looked up. unnamed: it ends at an
address without a name. go, native: it ends in such code, short of a root. cgo: in C of a Go program."""

Verdict = Literal["direct", "possible", "wrong", "unread"]
"""About one caller and what it called. direct: the code calls that function, if need be by way of one
that jumps there. possible: the code calls, by a pointer or through another file. wrong: it calls
another function, or is no call. unread: its code was not read."""

_ENDS: Mapping[Break, str] = {
    "cut": "deeper than is kept",
    "user": "without the process's own stack",
    "gone": "of processes that had ended",
    "unnamed": "end in code without names",
    "go": "end in Go short of a root",
    "cgo": "end in C of a Go program",
    "native": "end in C short of a root",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Numbers are samples; those of *calls* are samples times the calls in their stacks."""

    rooted: int
    broken: Mapping[Break, int] = field(default_factory=dict)
    """Without zeros, as *calls* is."""
    calls: Mapping[Verdict, int] = field(default_factory=dict)

    @property
    def stacks(self) -> int:
        return self.rooted + sum(self.broken.values())

    @property
    def checked(self) -> int:
        """The calls whose code was read."""
        return sum(self.calls.values()) - self.calls.get("unread", 0)

    @property
    def rooted_share(self) -> float | None:
        """None where there is nothing to judge."""
        return self.rooted / self.stacks if self.stacks else None

    @property
    def real_share(self) -> float | None:
        """The share of checked calls that are calls in the code."""
        wrong = self.calls.get("wrong", 0)
        return 1 - wrong / self.checked if self.checked else None


def sentence(grade: Grade, *, recorded: int, lost: int) -> str:
    """The grade for people, in one line."""
    parts = []
    if grade.rooted_share is not None:
        parts.append(f"{percent(grade.rooted_share)} of stacks reach their root")
    if grade.real_share is not None:
        parts.append(f"{percent(grade.real_share)} of calls are real calls in the code")
    elif grade.stacks:
        parts.append("no call was checked in the code")
    if recorded + lost:
        parts.append(f"{percent(lost / (recorded + lost))} lost")
    return "; ".join(parts)


def breaks(grade: Grade) -> str:
    """Why stacks do not reach their root, the most frequent reason first; empty when all do."""
    found = sorted(grade.broken.items(), key=lambda one: -one[1])
    return ", ".join(f"{percent(count / grade.stacks)} {_ENDS[why]}" for why, count in found)


def percent(share: float) -> str:
    """With one digit; what is not all is never shown as all, nor something as nothing."""
    if 0.9995 <= share < 1:
        return "more than 99.9 %"
    if 0 < share < 0.0005:
        return "less than 0.1 %"
    return f"{share:.1%}".replace("%", " %").replace(".0 ", " ")


def pairs(grade: Grade) -> Iterator[tuple[str, int]]:
    """The grade as words with numbers, of which `of_pairs` makes it again."""
    yield "rooted", grade.rooted
    for why, count in grade.broken.items():
        yield f"broken.{why}", count
    for verdict, count in grade.calls.items():
        yield f"calls.{verdict}", count


def of_pairs(found: Iterable[tuple[str, int]]) -> Grade | None:
    """None without the word that each grade has. Words of later versions are left out."""
    numbers = dict(found)
    if "rooted" not in numbers:
        return None
    broken = {why: numbers.get(f"broken.{why}", 0) for why in get_args(Break)}
    calls = {verdict: numbers.get(f"calls.{verdict}", 0) for verdict in get_args(Verdict)}
    return Grade(
        rooted=numbers["rooted"],
        broken={why: count for why, count in broken.items() if count},
        calls={verdict: count for verdict, count in calls.items() if count},
    )
