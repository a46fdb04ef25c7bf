"""Victims and aggressors as a table for people, and one of them with its links."""

from collections.abc import Iterator
from dataclasses import dataclass

from nemutator_ctl.answers import Amount, Moment, understood
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

NEIGHBOURS_PATH = "/api/v1/neighbours"
WIDTH = 300

LAYOUT = (
    Column("NAME", limit=60),
    Column("NODE", limit=30),
    Column("VICTIM"),
    Column("AGGRESSOR"),
    Column("WHY", limit=120),
)
LINKS = (
    Column("OF", limit=10),
    Column("VICTIM", limit=50),
    Column("AGGRESSOR", limit=50),
    Column("QUIET", right=True),
    Column("BUSY", right=True),
    Column("LAG", right=True),
    Column("CHANCE", right=True),
)


@dataclass(frozen=True, slots=True)
class ListedGrades:
    now: int | None
    usual: int | None
    worst: int | None
    why: str
    top: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEnd:
    namespace: str
    pod: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedLink:
    resource: str
    victim: ListedEnd
    aggressor: ListedEnd
    p: Amount
    lagMinutes: int  # noqa: N815 - the API spells it so
    quiet: Amount
    busy: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNeighbour:
    namespace: str
    kind: str
    name: str
    node: str
    victim: ListedGrades
    aggressor: ListedGrades
    links: tuple[ListedLink, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedUntold:
    why: str
    containers: int


@dataclass(frozen=True, slots=True)
class ListedAsidePod:
    namespace: str
    name: str
    grade: int
    state: str
    why: str


@dataclass(frozen=True, slots=True)
class ListedAside:
    policy: str
    evicts: bool
    pods: tuple[ListedAsidePod, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedNeighbours:
    at: Moment
    why: str
    containers: int
    untold: tuple[ListedUntold, ...]
    top: int
    remaining: int
    items: tuple[ListedNeighbour, ...]
    aside: ListedAside | None = None


def decode(document: object) -> ListedNeighbours:
    return understood(document, ListedNeighbours, "a list of neighbours")


def decode_one(document: object) -> ListedNeighbour:
    return understood(document, ListedNeighbour, "a victim or an aggressor")


def overview(found: ListedNeighbours) -> str:
    return "".join(_lines(found))


def _lines(found: ListedNeighbours) -> Iterator[str]:
    if found.items:
        yield table(
            LAYOUT,
            [
                (
                    _name(one),
                    one.node or "-",
                    _grades(one.victim),
                    _grades(one.aggressor),
                    _why(one),
                )
                for one in found.items
            ],
        )
        yield "grades are from 0 to 4: now, usually, at worst; * is among the worst and bears labels\n"
    elif found.why:
        yield f"{visible(found.why, limit=WIDTH)}\n"
    else:
        yield f"of {found.containers} containers none suffers when another one is busy\n"
    if found.remaining:
        yield f"and {found.remaining} more: --limit\n"
    if found.aside is not None:
        yield from _aside(found.aside)
    for one in found.untold:
        yield f"of {one.containers} containers nobody can tell: {visible(one.why, limit=WIDTH)}\n"


def _aside(aside: ListedAside) -> Iterator[str]:
    policy = visible(aside.policy, limit=80)
    would = "evicts" if aside.evicts else "would evict, with mode: Apply,"
    if not aside.pods:
        yield f"SeasonPolicy {policy} {would} whoever is in others' way: nobody is\n"
    for one in aside.pods:
        name = visible(f"{one.namespace}/{one.name}", limit=120)
        said = f"not: {visible(one.why, limit=WIDTH)}" if one.why else one.state
        yield f"SeasonPolicy {policy} {would} {name} (grade {one.grade}), {said}\n"


def details(one: ListedNeighbour) -> str:
    lines = [
        f"{visible(_name(one), limit=WIDTH)}, {visible(one.kind, limit=40)}"
        + (f" on {visible(one.node, limit=WIDTH)}" if one.node else ""),
        *_of_role("victim", one.victim),
        *_of_role("aggressor", one.aggressor),
    ]
    rows = [
        (
            each.resource,
            f"{each.victim.namespace}/{each.victim.pod}",
            f"{each.aggressor.namespace}/{each.aggressor.pod}",
            f"{100 * each.quiet:.0f}%",
            f"{100 * each.busy:.0f}%",
            f"{each.lagMinutes} min",
            f"{each.p:.1g}",
        )
        for each in one.links
    ]
    return "".join(f"{line}\n" for line in lines) + (table(LINKS, rows) if rows else "")


def _of_role(role: str, grades: ListedGrades) -> Iterator[str]:
    yield f"{role:<10} {_grades(grades)}"
    if grades.why:
        yield f"           {visible(grades.why, limit=WIDTH)}"


def _name(one: ListedNeighbour) -> str:
    return f"{one.namespace}/{one.name}" if one.namespace else one.name


def _grades(grades: ListedGrades) -> str:
    several = (grades.now, grades.usual, grades.worst)
    words = " ".join("?" if grade is None else str(grade) for grade in several)
    return f"{words} *" if grades.top else words


def _why(one: ListedNeighbour) -> str:
    """Of the role that is worse."""

    def most(grades: ListedGrades) -> int:
        return max(grades.now or 0, grades.usual or 0, grades.worst or 0)

    return one.victim.why if most(one.victim) >= most(one.aggressor) else one.aggressor.why
