"""JSON Patches (RFC 6902) in the spelling that the API server compares.

Its library (evanphx/json-patch) compares what a `test` operation says with the object byte by byte, as Go has
encoded that: `&` without an escape is another text to it than `\\u0026`, and the whole patch fails.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

_ESCAPED = tuple(
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in "&<>\u2028\u2029"
)
"""What Go's `encoding/json` escapes and msgspec does not. Of JSON these stand within texts alone."""


def patch_text(operations: Sequence[Any]) -> bytes:
    text = msgspec.json.encode(operations)
    for plain, escaped in _ESCAPED:
        text = text.replace(plain, escaped)
    return text
