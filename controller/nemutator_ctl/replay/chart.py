"""A replay as an SVG picture that needs nothing else: what strategies cost and missed, and their lines through time."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from nemutator_controller.sizing.replayed_series import ReplayedSeries

MOST_CONTAINERS = 12

WIDTH = 960
_LEFT, _RIGHT = 130, 20
_PLOT = WIDTH - _LEFT - _RIGHT
_BAR, _PANEL, _GAP = 18, 120, 46
_DAY = 24

LINES = (
    ("#0072b2", ""),
    ("#d55e00", "7 3"),
    ("#009e73", "2 3"),
    ("#cc79a7", "9 3 2 3"),
    ("#000000", "4 4"),
)
"""Colours that colour-blind people tell apart (Okabe and Ito), and strokes for those who print in grey."""

_USED = "#c8c8c8"

_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
    ' height="{height}" role="img" font-family="sans-serif" font-size="12">\n'
    "<title>{title}</title>\n"
    '<rect width="{width}" height="{height}" fill="#fff"/>\n'
)


def chart(shown: Mapping[str, Any], series: Sequence[ReplayedSeries]) -> str:
    """Of the document *shown*, and the lines of some of its containers."""
    names = [item["own"]["strategy"] for item in shown["items"]]
    unit = "cores" if shown["resource"] == "cpu" else "GiB"
    title = (
        f"{shown['resource']} of {shown['containers']} containers, {shown['days']:g} days in all"
    )
    parts = [_text(_LEFT, 24, title, size=16)]
    at = 44
    for what, field, form in (
        ("requested by used", "cost", "{:.2f}"),
        ("missed", "missed", "{:.2%}"),
        ("changes a day", "changes", "{:.1f}"),
    ):
        parts += _bars(shown["items"], what, field, form, at)
        at += _BAR * len(names) + 30
    parts += _legend(names, at)
    at += 30
    for one in series:
        parts += _panel(one, unit, at)
        at += _PANEL + _GAP
    head = _HEAD.format(width=WIDTH, height=at, title=escape(title))
    return head + "\n".join(parts) + "\n</svg>\n"


def _bars(
    items: Sequence[Mapping[str, Any]], what: str, field: str, form: str, at: int
) -> Iterator[str]:
    yield _text(_LEFT, at + 10, what)
    values = [item["own"][field] for item in items]
    most = max((value for value in values if value is not None), default=0.0) or 1.0
    for number, (item, value) in enumerate(zip(items, values, strict=True)):
        y = at + 16 + _BAR * number
        yield _text(_LEFT - 8, y + 12, item["own"]["strategy"], anchor="end")
        width = 0.0 if value is None else (_PLOT - 80) * value / most
        colour = LINES[number % len(LINES)][0]
        yield f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR - 4}" fill="{colour}"/>'
        yield _text(_LEFT + width + 6, y + 12, "-" if value is None else form.format(value))


def _legend(names: Sequence[str], at: int) -> Iterator[str]:
    yield f'<rect x="{_LEFT}" y="{at}" width="24" height="10" fill="{_USED}"/>'
    yield _text(_LEFT + 30, at + 10, "used at most")
    for number, name in enumerate(names):
        x = _LEFT + 130 + 130 * number
        yield f'<path d="M{x} {at + 5}h24" {_stroke(number)}/>'
        yield _text(x + 30, at + 10, name)


def _panel(one: ReplayedSeries, unit: str, at: int) -> Iterator[str]:
    bottom, size = at + 18 + _PANEL, 1 if unit == "cores" else 1 << 30
    lines = [one.used, *one.requested.values()]
    most = max((value for line in lines for value in line if value is not None), default=0.0) or 1.0
    yield _text(_LEFT, at + 10, f"{one.name}, {one.hours / _DAY:.1f} days")
    yield _text(_LEFT - 8, at + 28, f"{most / size:.3g} {unit}", anchor="end")
    yield _text(_LEFT - 8, bottom, "0", anchor="end")
    yield f'<path d="{_area(one.used, most, bottom)}" fill="{_USED}"/>'
    for number, line in enumerate(one.requested.values()):
        yield f'<path d="{_steps(line, most, bottom)}" {_stroke(number)}/>'
    yield f'<path d="M{_LEFT} {bottom}h{_PLOT}" stroke="#555" fill="none"/>'


def _stroke(number: int) -> str:
    colour, dashes = LINES[number % len(LINES)]
    return f'fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dashes or "none"}"'


def _area(values: Sequence[float | None], most: float, bottom: int) -> str:
    wide = _PLOT / max(1, len(values))
    return " ".join(
        f"M{_LEFT + number * wide:.1f} {bottom}v{-_PANEL * value / most:.1f}h{wide:.1f}V{bottom}z"
        for number, value in enumerate(values)
        if value
    )


def _steps(values: Sequence[float | None], most: float, bottom: int) -> str:
    wide = _PLOT / max(1, len(values))
    parts, drawn = [], False
    for number, value in enumerate(values):
        if value is not None:
            y = bottom - _PANEL * value / most
            parts.append(f"V{y:.1f}" if drawn else f"M{_LEFT + number * wide:.1f} {y:.1f}")
            parts.append(f"H{_LEFT + (number + 1) * wide:.1f}")
        drawn = value is not None
    return "".join(parts)


def _text(x: float, y: float, text: str, *, size: int = 12, anchor: str = "start") -> str:
    # XML has no way to write most control characters.
    clean = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    words = escape(clean if len(clean) <= 120 else clean[:119] + "…")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{words}</text>'
