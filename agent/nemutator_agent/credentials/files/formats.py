"""Writes several secrets as one file, in the formats that programs read."""

import json
import re
import shlex
from collections.abc import Mapping

from nemutator_common.declarations import FileFormat

_ESCAPED = {
    "\\": "\\\\",
    "\t": "\\t",
    "\n": "\\n",
    "\r": "\\r",
    "\f": "\\f",
}
_NOT_PLAIN = re.compile(r"[^!-~]")


class FormatError(ValueError):
    """The format has no way to write a value; names its key, and never the value."""


def rendered(file_format: FileFormat, values: Mapping[str, str]) -> str:
    """The file's whole content; raises FormatError."""
    match file_format:
        case FileFormat.JSON:
            return json.dumps(values) + "\n"
        case FileFormat.DOTENV:
            return "".join(f"{key}={_quoted(key, value)}\n" for key, value in values.items())
        case FileFormat.PROPERTIES:
            return "".join(f"{key}={_escaped(value)}\n" for key, value in values.items())


def _quoted(key: str, value: str) -> str:
    """As a shell reads it; libraries agree, but for values with quotes or backslashes."""
    if "\0" in value:
        raise FormatError(f"{key}: a dotenv file cannot hold a zero byte")
    return shlex.quote(value)


def _escaped(value: str) -> str:
    """As `java.util.Properties` reads it; of ASCII alone, because older ones take files for Latin-1."""
    escaped = "".join(_ESCAPED.get(one) or _plain(one) for one in value)
    # Spaces at the beginning would belong to the separator.
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _plain(character: str) -> str:
    if character == " " or not _NOT_PLAIN.match(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
