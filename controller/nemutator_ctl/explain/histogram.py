"""How often how much was used, as a picture of characters without colours: pure."""

from collections.abc import Sequence
from dataclasses import dataclass

HEIGHT = 4
"""Lines of the tallest column."""

WIDEST = 100
NARROWEST = 20

BEYOND = 5.0
"""Of what was used at most: what is requested further out stands at the edge, and leaves room for the rest."""

_EIGHTHS = " ▁▂▃▄▅▆▇█"

Bucket = tuple[float, float, float]
"""From, to, and how much of the time."""


@dataclass(frozen=True, slots=True)
class Mark:
    title: str
    amount: float | None


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a terminal can show."""

    columns: int = 80
    unicode: bool = True


def histogram(buckets: Sequence[Bucket], marks: Sequence[Mark], drawing: Drawing) -> list[str]:
    """The picture, with a line for each mark under it; nothing where nothing was used."""
    most = max((high for _, high, share in buckets if share > 0), default=0.0)
    if most <= 0:
        return []
    shown = [(mark.title, mark.amount) for mark in marks if mark.amount is not None]
    end = min(max([most, *(amount for _, amount in shown)]), most * BEYOND)
    width = max(NARROWEST, min(drawing.columns, WIDEST))
    places = [(title, _place(amount, end, width), amount > end) for title, amount in shown]
    return [
        *_columns(_spread(buckets, end, width), unicode=drawing.unicode),
        _axis({place for _, place, _ in places}, width, unicode=drawing.unicode),
        *(_pointer(*one, width, unicode=drawing.unicode) for one in places),
    ]


def of_peaks(peaks: Sequence[float]) -> list[Bucket]:
    """Amounts that are known exactly, each as often as the other."""
    return [(peak, peak, 1 / len(peaks)) for peak in peaks]


def _spread(buckets: Sequence[Bucket], end: float, width: int) -> list[float]:
    """How much of the time falls into each column; a bucket that is wider than one is spread over several."""
    found = [0.0] * width
    for low, high, share in buckets:
        first, last = _place(low, end, width), _place(high, end, width)
        # Its upper edge is where the next one begins.
        if last > first and high <= last * end / width:
            last -= 1
        for column in range(first, last + 1):
            found[column] += share / (last - first + 1)
    return found


def _place(amount: float, end: float, width: int) -> int:
    return max(0, min(width - 1, int(amount / end * width)))


def _columns(shares: Sequence[float], *, unicode: bool) -> list[str]:
    most = max(shares)
    steps = len(_EIGHTHS) - 1 if unicode else 1
    # Seldom and never are not the same.
    heights = [max(1, round(share / most * HEIGHT * steps)) if share > 0 else 0 for share in shares]
    lines = []
    for row in reversed(range(HEIGHT)):
        filled = (max(0, min(steps, height - row * steps)) for height in heights)
        line = "".join(_EIGHTHS[one] if unicode else " #"[one] for one in filled)
        lines.append(line.rstrip())
    return [line for at, line in enumerate(lines) if line or any(lines[:at])]


def _axis(marked: set[int], width: int, *, unicode: bool) -> str:
    line, mark = ("─", "┴") if unicode else ("-", "+")
    return "".join(mark if column in marked else line for column in range(width))


def _pointer(title: str, place: int, beyond: bool, width: int, *, unicode: bool) -> str:
    arrow = ("▶" if unicode else ">") if beyond else ("▲" if unicode else "^")
    if place + 2 + len(title) <= width:
        return f"{' ' * place}{arrow} {title}"
    return f"{title} {arrow}".rjust(place + 1)
