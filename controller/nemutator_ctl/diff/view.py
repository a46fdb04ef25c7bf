"""What two profiles differ in, for people."""

from nemutator_common.profiles.difference import Difference, FunctionChange, changes

from nemutator_ctl.function_table import amounts_of
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

MOST_FUNCTIONS = 10
"""Of those that grew, and of those that shrank."""

LAYOUT = (
    Column("OWN CHANGE", right=True),
    Column("OWN BEFORE", right=True),
    Column("TOTAL CHANGE", right=True),
    Column("TOTAL BEFORE", right=True),
    Column("FUNCTION", limit=100),
)


def view(difference: Difference, before: str, after: str) -> str:
    unit, amount = difference.unit, amounts_of(difference.unit)
    grown = _change(unit, difference.after - difference.before)
    lines = [
        f"before: {visible(before, limit=200)}: {amount(difference.before)}",
        f"after:  {visible(after, limit=200)}: {amount(difference.after)} ({grown})",
    ]
    if difference.scaled_to:
        lines.append(
            f"  note: what was before is multiplied by {difference.scale:.3f},"
            f" to {difference.scaled_to}"
        )
    found = changes(difference)
    grew = [one for one in found if one.growth > 0 or (one.growth == 0 and one.after > one.before)]
    shrank = [one for one in reversed(found) if one not in set(grew)]
    return "\n".join(
        [*lines, "", *_listed(unit, "more", grew), "", *_listed(unit, "less", shrank), ""]
    )


def _listed(unit: str, word: str, found: list[FunctionChange]) -> list[str]:
    if not found:
        return [f"No function has {word}."]
    amount = amounts_of(unit)
    rows = [
        (
            _change(unit, one.growth),
            amount(one.own_before),
            _change(unit, one.after - one.before),
            amount(one.before),
            one.function,
        )
        for one in found[:MOST_FUNCTIONS]
    ]
    left = len(found) - len(rows)
    return [
        f"{word.capitalize()}:",
        table(LAYOUT, rows).rstrip("\n"),
        *([f"and {left} more functions"] if left > 0 else []),
    ]


def _change(unit: str, value: int) -> str:
    return ("+" if value > 0 else "") + amounts_of(unit)(value)
