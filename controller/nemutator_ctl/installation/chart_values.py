"""The values of an installation: the chart's own, those of files, and those of `--set`, as Helm reads them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

Json = dict[str, Any]

WHOLE = re.compile(r"-?[1-9][0-9]*$|0$")
WORDS: Mapping[str, Any] = {"true": True, "false": False, "null": None}
DEEPEST = 16


class ValuesError(Exception):
    """A value that cannot be read."""


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Json:
    """*below* with what *above* says; null takes away what was there, as with Helm."""
    found = dict(below)
    for name, value in above.items():
        before = found.get(name)
        if value is None:
            found.pop(name, None)
        elif isinstance(value, dict) and isinstance(before, dict):
            found[name] = merged(before, value)
        else:
            found[name] = merged({}, value) if isinstance(value, dict) else value
    return found


def at(values: Mapping[str, Any], path: str) -> Any:
    """The value at `a.b.c`, or None."""
    found: Any = values
    for name in path.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def assigned(text: str) -> Json:
    """What one `--set` says: `a.b=1,c={x,y}`; a backslash takes a comma, a dot or a brace for itself."""
    found: Json = {}
    for pair in _split(text, ","):
        name, equals, value = pair.partition("=")
        names = [_bare(each) for each in _split(name, ".")]
        if not equals or not all(names) or len(names) > DEEPEST:
            raise ValuesError(f"{pair[:80]!r} is not NAME=VALUE")
        if re.search(r"\[\d+\]$", name):
            raise ValuesError(f"{name[:80]}: items of a list are given in a file, with -f")
        one: Any = _value(value)
        for each in reversed(names):
            one = {each: one}
        found = _over(found, one)
    return found


def _over(below: Json, above: Json) -> Json:
    """As `merged`, and null stays: it is what is asked for."""
    found = dict(below)
    for name, value in above.items():
        before = found.get(name)
        if isinstance(value, dict) and isinstance(before, dict):
            found[name] = _over(before, value)
        else:
            found[name] = value
    return found


def _value(text: str) -> Any:
    if text.startswith("{") and text.endswith("}"):
        return [_value(each) for each in _split(text[1:-1], ",")] if len(text) > 2 else []
    plain = _bare(text)
    if plain in WORDS and plain == text:
        return WORDS[plain]
    if WHOLE.match(text) and len(text) < 20:
        return int(text)
    return plain


def _split(text: str, mark: str) -> Iterator[str]:
    """*text* at each *mark* that is neither behind a backslash nor in braces."""
    part, depth, escaped = "", 0, False
    for character in text:
        if escaped or character == "\\":
            escaped = not escaped
        elif character in "{}":
            depth += 1 if character == "{" else -1
        elif character == mark and depth == 0:
            yield part
            part = ""
            continue
        part += character
    yield part


def _bare(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
