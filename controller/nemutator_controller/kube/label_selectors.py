"""Label selectors as kubectl and the API server read them: `app=web,tier in (a, b),!legacy`.

The grammar is apimachinery's (tests/golden/apimachinery has its answers), `()` for "the empty
value" and keywords as ordinary names included.
"""

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

LONGEST = 64 * 1024
"""In characters. Selectors travel in URLs; what is longer than any URL is hostile."""

_LONGEST_NAME = 63
_LONGEST_PREFIX = 253
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DNS_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_PREFIX = re.compile(rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*")
_INTEGER = re.compile(r"[+-]?[0-9]{1,64}")

_BLANK = " \t\r\n"
_TOKEN = re.compile(rf"==|!=|[=!(),<>]|[^=!(),<>{_BLANK}]+")
_SPECIAL = frozenset("=!(),<>")


class SelectorError(ValueError):
    """The text is not a selector; the message names the character, counted from 1."""


class Operator(enum.Enum):
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    IN = "in"
    NOT_IN = "notin"
    GREATER = ">"
    LESS = "<"
    EXISTS = "exists"
    NOT_EXISTS = "!"


_SETS = frozenset({Operator.IN, Operator.NOT_IN})
_ORDERS = frozenset({Operator.GREATER, Operator.LESS})
_NEGATIVE = frozenset({Operator.NOT_EQUALS, Operator.NOT_IN, Operator.NOT_EXISTS})
_UNARY = frozenset({Operator.EXISTS, Operator.NOT_EXISTS})
_BINARY = {operator.value: operator for operator in Operator if operator not in _UNARY}


@dataclass(frozen=True, slots=True)
class Requirement:
    """What one label must be; *values* are sorted and free of duplicates."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        if value is None:
            return self.operator in _NEGATIVE
        match self.operator:
            case Operator.EXISTS:
                return True
            case Operator.NOT_EXISTS:
                return False
            case Operator.NOT_EQUALS | Operator.NOT_IN:
                return value not in self.values
            case Operator.GREATER | Operator.LESS:
                return self._in_order(value)
            case _:
                return value in self.values

    def _in_order(self, value: str) -> bool:
        label, bound = _integer(value), _integer(self.values[0])
        if label is None or bound is None:
            return False
        return label > bound if self.operator is Operator.GREATER else label < bound

    def __str__(self) -> str:
        match self.operator:
            case Operator.EXISTS:
                return self.key
            case Operator.NOT_EXISTS:
                return f"!{self.key}"
            case Operator.IN | Operator.NOT_IN:
                return f"{self.key} {self.operator.value} ({','.join(self.values)})"
            case _:
                return f"{self.key}{self.operator.value}{self.values[0]}"


@dataclass(frozen=True, slots=True)
class Selector:
    """All of its requirements at once; without any it selects everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


def parse_selector(text: str) -> Selector:
    """*text* as a selector, its requirements sorted by key, or a `SelectorError`."""
    if len(text) > LONGEST:
        raise SelectorError(f"selector: longer than {LONGEST} characters")
    requirements = _Parser(text).requirements()
    return Selector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))


class _Parser:
    """Recursive descent over the tokens, each with the place where it starts."""

    def __init__(self, text: str) -> None:
        self._tokens = [(match[0], match.start()) for match in _TOKEN.finditer(text)]
        self._end = ("", len(text))
        self._next = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while self._peek():
            found.append(self._requirement())
            if not self._peek():
                break
            if self._take() != ",":
                self._fail("',' or the end", back=1)
            if not self._peek():
                self._fail("a label after ','")
        return found

    def _requirement(self) -> Requirement:
        absent = self._peek() == "!"
        if absent:
            self._take()
        key = self._name("a label")
        self._check_key(key)
        if absent:
            return Requirement(key, Operator.NOT_EXISTS)
        if self._peek() in ("", ","):
            return Requirement(key, Operator.EXISTS)
        operator = _BINARY.get(self._take())
        if operator is None:
            self._fail(f"one of {' '.join(_BINARY)}", back=1)
        values = self._set() if operator in _SETS else (self._value(),)
        if operator in _ORDERS and _integer(values[0]) is None:
            self._fail("a whole number of 64 bits", back=1 if values[0] else 0)
        return Requirement(key, operator, values)

    def _set(self) -> tuple[str, ...]:
        if self._take() != "(":
            self._fail("'('", back=1)
        values = {self._value()}
        while (following := self._take()) == ",":
            values.add(self._value())
        if following != ")":
            self._fail("',' or ')'", back=1)
        return tuple(sorted(values))

    def _value(self) -> str:
        """A value may be empty: then the next token already belongs to what follows."""
        if self._peek() in ("", ",", ")"):
            return ""
        value = self._name("a value")
        if len(value) > _LONGEST_NAME or not _NAME.fullmatch(value):
            self._fail(f"a label value (letters, digits, - _ . up to {_LONGEST_NAME})", back=1)
        return value

    def _check_key(self, key: str) -> None:
        prefix, slash, name = key.rpartition("/")
        good = len(name) <= _LONGEST_NAME and _NAME.fullmatch(name)
        if slash:
            good = good and len(prefix) <= _LONGEST_PREFIX and _PREFIX.fullmatch(prefix)
        if not good:
            self._fail(f"a label key (name up to {_LONGEST_NAME}, or dns.prefix/name)", back=1)

    def _name(self, expected: str) -> str:
        token = self._take()
        if not token or token[0] in _SPECIAL:
            self._fail(expected, back=1)
        return token

    def _peek(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._next += 1
        return token

    def _fail(self, expected: str, *, back: int = 0) -> NoReturn:
        index = self._next - back
        token, start = self._tokens[index] if index < len(self._tokens) else self._end
        found = repr(token[:20]) if token else "the end"
        raise SelectorError(f"selector: character {start + 1}: {found} instead of {expected}")


def _integer(text: str) -> int | None:
    value = int(text) if _INTEGER.fullmatch(text) else None
    return value if value is not None and -(2**63) <= value < 2**63 else None
