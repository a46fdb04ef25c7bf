"""The functions of a profile as a table for people."""

from collections.abc import Callable, Mapping, Sequence

from nemutator_common.profiles.model import Share

from nemutator_ctl.tables import Column, table

MOST_FUNCTIONS = 15

LAYOUT = (
    Column("OWN", right=True),
    Column("OWN%", right=True),
    Column("TOTAL", right=True),
    Column("TOTAL%", right=True),
    Column("FUNCTION", limit=100),
)

ALLOCATED_AT = Column("ALLOCATED AT", limit=60)


def function_table(
    functions: Sequence[Share],
    total: int,
    *,
    amount: Callable[[int], str] = str,
    places: Mapping[str, str] | None = None,
) -> str:
    """The first of *functions*, as shares of *total*, which is not 0.

    *places*: where each has allocated, for a heap.
    """
    rows = [
        (
            amount(one.flat),
            f"{one.flat / total:.1%}",
            amount(one.cumulative),
            f"{one.cumulative / total:.1%}",
            one.function,
            *(() if places is None else (places.get(one.function, ""),)),
        )
        for one in functions[:MOST_FUNCTIONS]
    ]
    left = len(functions) - len(rows)
    layout = LAYOUT if places is None else (*LAYOUT, ALLOCATED_AT)
    return table(layout, rows) + (f"and {left} more\n" if left > 0 else "")


def amounts_of(unit: str) -> Callable[[int], str]:
    """How people read what counts *unit*."""
    return {"bytes": mebibytes, "nanoseconds": seconds}.get(unit, str)


def seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e9:.3f} s"


def mebibytes(value: int) -> str:
    return f"{value / (1 << 20):.2f} MiB"
