"""Writes several secrets as one file, in the formats that programs read."""

import json
import shlex
from collections.abc import Mapping

from nemutator_common.declarations import FileFormat


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
    # JSON escapes all that is not plain ASCII, as this format does, and in C: a value may have 256 KiB, and
    # the event loop waits for it.
    escaped = json.dumps(value)[1:-1]
    # What it escapes otherwise; no text of JSON has a zero byte, which stands for a backslash meanwhile.
    escaped = escaped.replace(r"\\", "\0").replace(r"\"", '"').replace(r"\b", r"\u0008")
    escaped = escaped.replace("\0", r"\\")
    # Spaces at the beginning would belong to the separator.
    return f"\\{escaped}" if escaped.startswith(" ") else escaped
