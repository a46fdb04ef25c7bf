"""Documents for programs, out and in: JSON, or YAML. The only file that imports PyYAML, when asked.

What is written escapes everything beyond ASCII, so that a stranger's text cannot draw on a
terminal. What is read is what JSON has, as kubectl reads it: no aliases, dates or tags.
"""

import argparse
import enum
import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any


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
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=False)


LARGEST = 2 << 20
"""Bytes of a file of documents."""

MOST = 500
DEEPEST = 64


BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$")
"""A time of day, that YAML 1.1 takes for a number, and neither YAML 1.2 nor kubectl does.

What else 1.1 has (yes, no, on, off, 017, 1_000) kubectl's library reads as PyYAML does:
https://github.com/kubernetes-sigs/yaml/blob/master/goyaml.v2/resolve.go
"""


class DocumentError(ValueError):
    """A file that cannot be read as documents; says what and where."""


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
        items = document.get("items") if isinstance(document, dict) else None
        if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
            yield document
            continue
        # Items of a typed list need not repeat what they are.
        word = kind.removesuffix("List")
        head = {"apiVersion": document.get("apiVersion"), "kind": word} if word else {}
        yield from unlisted({**head, **each} if isinstance(each, dict) else each for each in items)


def parsed(content: bytes) -> tuple[Any, ...]:
    """The documents in *content*, without the empty ones."""
    if len(content) > LARGEST:
        raise DocumentError(f"larger than {LARGEST} bytes")
    try:
        # YAML reads nearly all JSON, but of a character beyond 16 bits it makes two.
        whole = json.loads(content, object_pairs_hook=_object)
        _check(whole, DEEPEST)
    except RecursionError as error:
        raise DocumentError("nested too deeply") from error
    except (json.JSONDecodeError, UnicodeDecodeError):
        return _parsed_yaml(content)
    except DocumentError:
        raise
    except ValueError as error:
        raise DocumentError("a number has thousands of digits") from error
    return () if whole is None else (whole,)


def _parsed_yaml(content: bytes) -> tuple[Any, ...]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Of YAML only what JSON can say."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                # A few of them make more than a memory can hold.
                raise DocumentError("aliases are not taken: write it out")
            return super().compose_node(parent, index)

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            try:
                return super().construct_object(node, deep=deep)
            except (ValueError, LookupError, AttributeError) as error:
                # PyYAML trusts that a tag fits its value, and that a number has few digits.
                what = f"{str(node.value)[:40]!r} cannot be read as {node.tag.rpartition(':')[2]}"
                raise yaml.constructor.ConstructorError(
                    None, None, what, node.start_mark
                ) from error

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            if not isinstance(node, yaml.MappingNode):
                return super().construct_mapping(node, deep=deep)
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            for key, (place, _) in zip(keys, node.value, strict=True):
                if not isinstance(key, str):
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key!r} is not text: quote it", place.start_mark
                    )
                if keys.count(key) > 1:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key[:80]!r} is there twice", place.start_mark
                    )
            return super().construct_mapping(node, deep=deep)

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(NOT_JSON)]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    for first in "+-0123456789":
        # The first that fits counts.
        text = ("tag:yaml.org,2002:str", BASE_60)
        Loader.yaml_implicit_resolvers[first].insert(0, text)
    try:
        found = []
        for document in yaml.load_all(content, Loader):
            if document is not None:
                _check(document, DEEPEST)
                found.append(document)
            if len(found) > MOST:
                raise DocumentError(f"more than {MOST} documents")
    except RecursionError as error:
        raise DocumentError("nested too deeply") from error
    except yaml.YAMLError as error:
        raise DocumentError(" ".join(str(error).split())[:300]) from error
    return tuple(found)


NOT_JSON = (":timestamp", ":merge", ":value")
"""Tags that YAML gives to plain words for what they look like; to Kubernetes they are text."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DocumentError(f"the key {key[:80]!r} is there twice")
        found[key] = value
    return found


def _check(value: Any, levels: int) -> None:
    if not levels:
        raise DocumentError("nested too deeply")
    if isinstance(value, dict | list):
        for each in (*value, *value.values()) if isinstance(value, dict) else value:
            _check(each, levels - 1)
    elif isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise DocumentError("a surrogate is half of a character, and no text") from None
    elif isinstance(value, float) and not math.isfinite(value):
        raise DocumentError(f"JSON has no number {value}")
    elif not isinstance(value, int | float | None):
        raise DocumentError(f"a {type(value).__name__} does not exist in JSON")
