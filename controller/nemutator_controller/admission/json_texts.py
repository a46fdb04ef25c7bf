"""Where the texts of a JSON document stand in its bytes."""

import re
from typing import NamedTuple

JsonPath = tuple[str | int, ...]

_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\],]', re.DOTALL)


class JsonText(NamedTuple):
    path: JsonPath
    first: int
    """The index of the first byte behind the quote."""
    end: int
    """That of the next quote."""


def texts_in(document: bytes) -> list[JsonText] | None:
    """All that are values, in their order, of a document that somebody has decoded; None: it has a key twice, or one that is
    not written as it is, so that it is not seen here which value of it counts."""
    found: list[JsonText] = []
    path: list[str | int] = []
    keys: list[set[bytes] | None] = []
    for token in _TOKEN.finditer(document):
        kind = document[token.start()]
        if kind == 0x22:
            if token[2] is None:
                found.append(JsonText(tuple(path), token.start(1), token.end(1)))
                continue
            seen, key = keys[-1], token[1]
            if seen is None or key in seen or b"\\" in key:
                return None
            seen.add(key)
            path[-1] = key.decode(errors="replace")
        elif kind in b"{[":
            keys.append(set() if kind == 0x7B else None)
            path.append(0)
        elif kind in b"}]":
            keys.pop()
            path.pop()
        elif keys[-1] is None:
            index = path[-1]
            assert isinstance(index, int)
            path[-1] = index + 1
    return found
