"""Profiles from files for people, and what they are written as."""

from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile, functions
from nemutator_common.profiles.sums import AnyProfile

from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

MOST_FUNCTIONS = 15

LAYOUT = (
    Column("OWN", right=True),
    Column("OWN%", right=True),
    Column("TOTAL", right=True),
    Column("TOTAL%", right=True),
    Column("FUNCTION", limit=100),
)


def view(profile: AnyProfile, title: str) -> str:
    """Which functions it is of, those with the most of their own first."""
    found = functions(profile)
    total = sum(weight for _, weight in profile.stacks)
    lines = [
        f"{visible(title, limit=200)}: {_unit(profile, total)} in {len(profile.stacks)} stacks"
    ]
    lines += [f"  note: {visible(note, limit=200)}" for note in profile.notes]
    if not total:
        return "\n".join([*lines, "", "Nothing in it weighs anything.", ""])
    rows = [
        (
            _amount(profile, one.flat),
            f"{one.flat / total:.1%}",
            _amount(profile, one.cumulative),
            f"{one.cumulative / total:.1%}",
            one.function,
        )
        for one in found[:MOST_FUNCTIONS]
    ]
    left = len(found) - len(rows)
    return (
        "\n".join([*lines, ""])
        + "\n"
        + table(LAYOUT, rows)
        + (f"and {left} more\n" if left > 0 else "")
    )


def _unit(profile: AnyProfile, total: int) -> str:
    match profile:
        case Profile():
            return f"{total} samples in {profile.seconds:.1f} s at {profile.hz} Hz"
        case HeapProfile():
            return f"{_amount(profile, total)} in use"
        case _:
            return f"{total} {visible(profile.unit, limit=40)}"


def _amount(profile: AnyProfile, value: int) -> str:
    return f"{value / (1 << 20):.2f} MiB" if isinstance(profile, HeapProfile) else str(value)
