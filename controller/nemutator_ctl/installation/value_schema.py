"""Holds values against the schema of the Helm chart: of JSON Schema as much as that one says.

A package for all of JSON Schema would be one more dependency of every command, for nine of its words.
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

KNOWN = frozenset(
    {
        *("$schema", "title", "description"),
        *("type", "properties", "additionalProperties", "items"),
        *("enum", "pattern", "minimum", "minLength"),
    }
)
"""The words of it that count here; tests/house holds the schema against them."""

TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
WIDTH = 80


def faults(value: Any, schema: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """What is wrong with *value*, each with the place where it stands."""
    wanted = schema.get("type")
    if wanted is not None:
        kinds = [wanted] if isinstance(wanted, str) else list(wanted)
        if not any(_is(value, kind) for kind in kinds):
            yield f"{where}: {_shown(value)} is no {' and no '.join(kinds)}"
            return
    if "enum" in schema and value not in schema["enum"]:
        known = ", ".join(repr(each) for each in schema["enum"])
        yield f"{where}: {_shown(value)} is none of {known}"
    if isinstance(value, str):
        pattern = schema.get("pattern")
        if pattern is not None and not re.search(pattern, value):
            yield f"{where}: {_shown(value)} does not look like {pattern}"
        if len(value) < schema.get("minLength", 0):
            yield f"{where} is empty"
    elif isinstance(value, int | float) and value < schema.get("minimum", value):
        yield f"{where}: {value} is less than {schema['minimum']}"
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), f"{where}[{index}]")
    elif isinstance(value, dict):
        yield from _of_table(value, schema, where)


def _of_table(value: dict[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    known: Mapping[str, Any] = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for name, each in value.items():
        place = f"{where}.{name}" if where else name
        if name in known:
            yield from faults(each, known[name], place)
        elif isinstance(others, dict):
            yield from faults(each, others, place)
        elif not others:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            yield f"{place}: nothing reads this{hint}"


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind])


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= WIDTH else f"{shown[:WIDTH]}…"
