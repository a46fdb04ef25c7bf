"""What can be profiled, as a table to choose from."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from nemutator_ctl.answers import Amount, understood
from nemutator_ctl.tables import Column, table

TARGETS_PATH = "/api/v1/profile-targets"

LAYOUT = (
    Column("TARGET", limit=100),
    Column("NAME", limit=60),
    Column("IN", limit=60),
    Column("RUNTIME", limit=24),
    Column("AGE", right=True),
    Column("CPU", right=True),
    Column("MEMORY", right=True),
    Column("NODE", limit=40),
)

UNKNOWN = "-"

NOTHING = "There is nothing to profile: no node has reported yet, or none has what you look for.\n"

Count = Annotated[int, Meta(ge=0, lt=1 << 60)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTarget:
    target: str
    name: str
    within: str
    node: str
    runtime: str | None
    runtime_version: str | None
    age_s: Amount
    cpu_cores: Amount | None
    memory_bytes: Count | None


@dataclass(frozen=True, slots=True)
class ListedTargets:
    items: tuple[ListedTarget, ...]
    left: Count
    nodes_left: Count


def decode_targets(document: object) -> ListedTargets:
    """The targets in *document*, or an `OperatorError` when there are none."""
    return understood(document, ListedTargets, "a list of targets")


def targets_view(listed: ListedTargets) -> str:
    if not listed.items:
        return NOTHING
    text = table(LAYOUT, list(map(_cells, listed.items)))
    if listed.left:
        text += f"and {listed.left} more\n"
    if listed.nodes_left:
        text += f"of the busiest nodes; {listed.nodes_left} more report: name one with --node\n"
    return text + "\nProfile one with `nemutator profile TARGET`, or by its name.\n"


def _cells(one: ListedTarget) -> tuple[str, ...]:
    version = (one.runtime_version or "").removeprefix("go")
    return (
        one.target,
        one.name,
        one.within,
        " ".join(filter(None, (one.runtime, version))),
        _age(one.age_s),
        UNKNOWN if one.cpu_cores is None else f"{round(one.cpu_cores * 1000)}m",
        UNKNOWN if one.memory_bytes is None else f"{one.memory_bytes >> 20}Mi",
        one.node,
    )


def _age(seconds: float) -> str:
    """As kubectl shows it, in the largest unit of which there are two."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length:.0f}{unit}"
    return f"{max(0.0, seconds):.0f}s"
