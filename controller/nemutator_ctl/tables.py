"""Tables as kubectl prints them: capital headings, aligned columns, no lines."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_ctl.terminal_text import columns, visible

GAP = "   "


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    right: bool = False
    """Numbers stand under each other when they end together."""
    limit: int = 60
    """Columns of the terminal that a cell may take."""


def table(layout: Sequence[Column], rows: Sequence[Sequence[str]]) -> str:
    """*rows* under the titles of *layout*; each row has as many cells as there are columns."""
    titles = [column.title for column in layout]
    cells = [
        [visible(cell, limit=column.limit) for column, cell in zip(layout, row, strict=True)]
        for row in (titles, *rows)
    ]
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    return "".join(_line(layout, widths, row) for row in cells)


def moment(at: float) -> str:
    """Seconds since the epoch as people read them."""
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(at))


def _line(layout: Sequence[Column], widths: Sequence[int], row: Sequence[str]) -> str:
    padded = []
    for column, width, cell in zip(layout, widths, row, strict=True):
        space = " " * (width - columns(cell))
        padded.append(space + cell if column.right else cell + space)
    return GAP.join(padded).rstrip() + "\n"
