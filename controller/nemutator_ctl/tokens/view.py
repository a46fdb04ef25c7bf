"""Tokens for people."""

from dataclasses import dataclass

from nemutator_ctl.answers import Amount, understood
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import visible

TOKENS_PATH = "/api/v1/tokens"

WIDTH = 200

LAYOUT = (
    Column("KEY", limit=60),
    Column("VALUE", limit=60),
    Column("STANDS FOR", limit=25),
    Column("FAULT", limit=80),
)


@dataclass(frozen=True, slots=True)
class ShownToken:
    key: str
    value: str
    place: str
    fault: str


@dataclass(frozen=True, slots=True)
class ShownTokens:
    source: str
    read: bool
    age_s: Amount
    problem: str
    count: int
    left_out: dict[str, int]
    items: tuple[ShownToken, ...]


def decode(document: object) -> ShownTokens:
    """The tokens in *document*, or an `OperatorError` when it has none."""
    return understood(document, ShownTokens, "a list of tokens")


def overview(shown: ShownTokens) -> str:
    rows = [(each.key, each.value, each.place, each.fault) for each in shown.items]
    left = shown.count - len(rows)
    return (
        _head(shown)
        + (table(LAYOUT, rows) if rows else "")
        + (f"and {left} more: --limit {shown.count}\n" if left > 0 else "")
    )


def trial(key: str, shown: ShownTokens) -> tuple[str, bool]:
    """What *key* would become, and whether it would become anything."""
    found = next((each for each in shown.items if each.key == key), None)
    if found is None:
        return _head(shown) + f"{visible(key, limit=WIDTH)}: there is no such token\n", False
    return _head(shown) + _line(found), not found.fault


def changed(document: object, *, removed: bool) -> str:
    token = understood(document, ShownToken, "a token")
    return f"{visible(token.key, limit=WIDTH)}: removed\n" if removed else _line(token)


def _line(token: ShownToken) -> str:
    key, value = visible(token.key, limit=WIDTH), visible(token.value, limit=WIDTH)
    fault = f": {visible(token.fault, limit=WIDTH)}" if token.fault else ""
    return f'{key}: "{value}" for {visible(token.place, limit=WIDTH)}{fault}\n'


def _head(shown: ShownTokens) -> str:
    if not shown.source:
        return "there is no token store: set brain.tokens_file or brain.tokens_redis\n"
    name, count = visible(shown.source, limit=WIDTH), shown.count
    number = "1 token" if count == 1 else f"{count} tokens"
    state = f"{number}, as of {shown.age_s:.0f} s ago" if shown.read else "not read yet"
    lines = [f"{name}: {state}"]
    if shown.problem:
        lines.append(f"  not read now: {visible(shown.problem, limit=WIDTH)}")
    lines += [
        f"  left out: {count} ({visible(why, limit=20)})"
        for why, count in sorted(shown.left_out.items())
    ]
    return "".join(f"{line}\n" for line in lines)
