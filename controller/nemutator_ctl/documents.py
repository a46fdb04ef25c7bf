"""Documents for programs: as JSON or YAML, and what people call them.

What is written escapes everything beyond ASCII, so that a stranger's text cannot draw on a terminal.
"""

import argparse
import enum
import json
from collections.abc import Iterable, Iterator
from typing import Any

from nemutator_controller.yaml_documents import escaped


class Output(enum.StrEnum):
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    WIDE = "wide"
    """A table with more columns; not every command has one."""
    NAME = "name"
    """The names alone, for the next command; of lists."""


def add_output(
    parser: argparse.ArgumentParser, *, wide: bool = False, name: bool = False, more: str = ""
) -> None:
    """The option `-o`; its value is text, which compares with the members of `Output`, or *more*, which one
    command has alone."""
    left_out = {Output.WIDE: not wide, Output.NAME: not name}
    known = [each.value for each in Output if not left_out.get(each)] + ([more] if more else [])
    parser.add_argument(
        "-o",
        "--output",
        metavar="|".join(known),
        # As with kubectl, where a table has nothing more to show `wide` is the same.
        choices=[*known, *([] if wide else [Output.WIDE.value])],
        default=Output.TABLE.value,
        help="table for people (the default)"
        + (", wide with more columns" if wide else "")
        + ", json or yaml for programs"
        + (", or the names alone" if name else "")
        + (f", or {more}: the same as --{more}" if more else ""),
    )


def rendered(document: object, output: Output) -> str:
    """*document*, made of what JSON has, as JSON or YAML that ends with a newline."""
    if output is Output.JSON:
        return json.dumps(document, indent=2) + "\n"
    return escaped(document)


def called(document: object) -> str:
    """How people call *document* in a message; empty when it says neither kind nor name."""
    if isinstance(document, dict) and isinstance(document.get("metadata"), dict):
        metadata = document["metadata"]
        name = metadata.get("name") or metadata.get("generateName") or "without a name"
        return f"{document.get('kind')} {name}"
    return ""


def unlisted(documents: Iterable[Any]) -> Iterator[Any]:
    """*documents*, and in place of Lists, as `kubectl get -o yaml` prints them, their items."""
    for document in documents:
        kind = document.get("kind") if isinstance(document, dict) else None
        items = document.get("items", 0) if isinstance(document, dict) else 0
        # Programs in Go write a list of nothing as null.
        items = [] if items is None else items
        if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
            yield document
            continue
        # Items of a typed list need not repeat what they are.
        word = kind.removesuffix("List")
        head = {"apiVersion": document.get("apiVersion"), "kind": word} if word else {}
        yield from unlisted({**head, **each} if isinstance(each, dict) else each for each in items)
