"""Amounts as bars under each other, on one scale: pure."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 40
EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True)
class Bar:
    title: str
    amount: float | None
    text: str


def bars(found: Sequence[Bar], *, unicode: bool = True) -> list[str]:
    """A line for each that has an amount; the largest is as wide as all the room."""
    shown = [(one.title, one.amount, one.text) for one in found if one.amount is not None]
    most = max((amount for _, amount, _ in shown), default=0.0)
    if most <= 0:
        return []
    width = max(len(title) for title, _, _ in shown)
    return [
        f"{title:<{width}} {_bar(amount / most, unicode=unicode)} {text}"
        for title, amount, text in shown
    ]


def _bar(share: float, *, unicode: bool) -> str:
    if not unicode:
        return "#" * max(1, round(min(1.0, max(0.0, share)) * WIDTH))
    eighths = round(min(1.0, max(0.0, share)) * WIDTH * 8)
    whole, rest = divmod(eighths, 8)
    # Nothing at all and too little to see are not the same.
    return "█" * whole + (EIGHTHS[rest] if rest else "") or "▏"
