"""Documents as people write them: JSON, or YAML. The only file that imports PyYAML, when asked.

What is read is what JSON has, as kubectl reads it: no aliases, dates or tags. It may be a stranger's: length, depth
and number are bounded, nothing is made of it but dictionaries, lists and scalars, and each error names its line.
"""

import functools
import json
import math
import re
from typing import Any

LARGEST = 2 << 20
"""Bytes of a file of documents."""

MOST = 500
DEEPEST = 64

MOST_BITS = 4_096
"""Of a whole number."""
MANY_DIGITS = "a number has thousands of digits"

LONGEST_LINE = 1_000
"""Characters of what is written, so that a text of several words is not folded."""

BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$")
"""A time of day, that YAML 1.1 takes for a number, and neither YAML 1.2 nor kubectl does.

What else 1.1 has (yes, no, on, off, 017, 1_000) kubectl's library reads as PyYAML does:
https://github.com/kubernetes-sigs/yaml/blob/master/goyaml.v2/resolve.go
"""

NOT_JSON = (":timestamp", ":merge", ":value")
"""Tags that YAML gives to plain words for what they look like; to Kubernetes they are text."""

BEYOND_JSON = frozenset(
    f"tag:yaml.org,2002:{word}" for word in ("binary", "omap", "pairs", "set", "timestamp")
)

_STEP = re.compile(r"\.?([A-Za-z][A-Za-z0-9]*)|\[([^\[\]]*)\]")
"""One step of a path such as `spec.mutations[0].labels.set[team]`."""


class DocumentError(ValueError):
    """A file that cannot be read as documents; says what and, where that is known, in which line."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what if line is None else f"line {line}: {what}")
        self.line = line


def parsed(content: bytes) -> tuple[Any, ...]:
    """The documents in *content*, without the empty ones."""
    if len(content) > LARGEST:
        raise DocumentError(f"larger than {LARGEST} bytes")
    try:
        # YAML reads nearly all JSON, but of a character beyond 16 bits it makes two.
        whole = json.loads(content, object_pairs_hook=_object)
        _check_all(whole, DEEPEST)
    except RecursionError as error:
        raise DocumentError("nested too deeply") from error
    except (json.JSONDecodeError, UnicodeDecodeError):
        return _parsed_yaml(content)
    except DocumentError:
        raise
    except ValueError as error:
        raise DocumentError(MANY_DIGITS) from error
    return () if whole is None else (whole,)


def written(document: object) -> str:
    """*document*, made of what JSON has, as YAML for people: in its own order, texts of several lines as such.

    Characters that cannot be seen, or that turn lines around, are escaped.
    """
    text = _dumped(document, as_is=True)
    if text.replace("\n", "").isprintable():
        return text
    return _dumped(document, as_is=False)


def escaped(document: object) -> str:
    """The same with everything beyond ASCII escaped, for terminals and programs."""
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=False)


def line_of(content: bytes, path: str) -> int | None:
    """The line of the innermost field that the first document in *content* has of *path*; None: it has none of it."""
    import yaml

    try:
        node = next(yaml.compose_all(content, _loader()), None)
    except (yaml.YAMLError, DocumentError, RecursionError):
        return None
    line = None
    at = 0
    while (step := _STEP.match(path, at)) is not None:
        found = _child(node, step[1] if step[2] is None else step[2])
        if found is None:
            break
        line, node = found
        at = step.end()
    return line


def _child(node: Any, step: str) -> tuple[int, Any] | None:
    """The line of what *step* names in *node*, and its node."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and step.isdecimal() and len(step) < 8:
        items = node.value[int(step) : int(step) + 1]
        return next(((each.start_mark.line + 1, each) for each in items), None)
    return None


def _dumped(document: object, *, as_is: bool) -> str:
    import yaml

    return yaml.dump(
        document, Dumper=_dumper(), sort_keys=False, allow_unicode=as_is, width=LONGEST_LINE
    )


@functools.cache
def _dumper() -> Any:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Texts of several lines are written as blocks."""

        def ignore_aliases(self, data: Any) -> bool:
            # What is read here may have none.
            return True

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper


@functools.cache
def _loader() -> Any:
    import yaml

    class Loader(yaml.SafeLoader):
        """Of YAML only what JSON can say."""

        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            line = event.start_mark.line + 1
            if self.check_event(yaml.AliasEvent):
                # A few of them make more than a memory can hold.
                raise DocumentError("aliases are not taken: write it out", line)
            self.depth += 1
            if self.depth > DEEPEST:
                raise DocumentError("nested too deeply", line)
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

        def construct_object(self, node: Any, deep: bool = False) -> Any:
            line = node.start_mark.line + 1
            if node.tag in BEYOND_JSON:
                word = node.tag.rpartition(":")[2]
                raise DocumentError(f"a {word} does not exist in JSON", line)
            try:
                value = super().construct_object(node, deep=deep)
            except (ValueError, LookupError, AttributeError, ArithmeticError) as error:
                if isinstance(error, DocumentError):
                    raise
                # PyYAML trusts that a tag fits its value, and that a number has few digits.
                what = f"{str(node.value)[:40]!r} cannot be read as {node.tag.rpartition(':')[2]}"
                raise DocumentError(what, line) from error
            _check(value, line)
            return value

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            if not isinstance(node, yaml.MappingNode):
                return super().construct_mapping(node, deep=deep)
            known = set()
            for place, _ in node.value:
                key = self.construct_object(place, deep=True)
                line = place.start_mark.line + 1
                if not isinstance(key, str):
                    raise DocumentError(f"the key {str(key)[:80]!r} is not text: quote it", line)
                if key in known:
                    raise DocumentError(f"the key {key[:80]!r} is there twice", line)
                known.add(key)
            return super().construct_mapping(node, deep=deep)

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(NOT_JSON)]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    for first in "+-0123456789":
        # The first that fits counts.
        text = ("tag:yaml.org,2002:str", BASE_60)
        Loader.yaml_implicit_resolvers[first].insert(0, text)
    return Loader


def _parsed_yaml(content: bytes) -> tuple[Any, ...]:
    import yaml

    found = []
    try:
        for document in yaml.load_all(content, _loader()):
            if document is not None:
                found.append(document)
            if len(found) > MOST:
                raise DocumentError(f"more than {MOST} documents")
    except RecursionError as error:
        raise DocumentError("nested too deeply") from error
    except yaml.reader.ReaderError as error:
        why = f"unacceptable character #x{error.character:04x}: {error.reason}"
        raise DocumentError(why, content[: error.position].count(b"\n") + 1) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = ", ".join(filter(None, (error.problem, error.context)))
        raise DocumentError(words[:300], None if mark is None else mark.line + 1) from error
    except yaml.YAMLError as error:
        raise DocumentError(" ".join(str(error).split())[:300]) from error
    return tuple(found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DocumentError(f"the key {key[:80]!r} is there twice")
        found[key] = value
    return found


def _check_all(value: Any, levels: int) -> None:
    if not levels:
        raise DocumentError("nested too deeply")
    _check(value)
    if isinstance(value, dict | list):
        for each in (*value, *value.values()) if isinstance(value, dict) else value:
            _check_all(each, levels - 1)


def _check(value: Any, line: int | None = None) -> None:
    """Whether JSON has *value*; not what is in it."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            why = "a surrogate is half of a character, and no text"
            raise DocumentError(why, line) from None
    elif isinstance(value, float) and not math.isfinite(value):
        raise DocumentError(f"JSON has no number {value}", line)
    elif isinstance(value, int) and value.bit_length() > MOST_BITS:
        # Python reads any number of hexadecimal digits, and writes no such number.
        raise DocumentError(MANY_DIGITS, line)
