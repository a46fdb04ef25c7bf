"""The parser of every command: it suggests what was meant, and can say what it understands."""

import argparse
import contextlib
import difflib
import re
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NoReturn

_sought: ContextVar[bool] = ContextVar("sought", default=False)


class ParserFoundError(Exception):
    """A command has made its parser, while that was all that was asked of it."""

    def __init__(self, parser: "Parser") -> None:
        super().__init__()
        self.parser = parser


@contextlib.contextmanager
def seeking() -> Iterator[None]:
    """Inside, a command raises `ParserFoundError` in place of parsing its words."""
    token = _sought.set(True)
    try:
        yield
    finally:
        _sought.reset(token)


@dataclass(frozen=True, slots=True)
class Understood:
    """An option, a positional argument, or a verb of a command."""

    words: tuple[str, ...]
    """Its flags, or the verb; none of a positional argument."""
    meaning: str
    takes_value: bool
    choices: tuple[str, ...]
    is_file: bool


class Parser(argparse.ArgumentParser):
    """`argparse`, with kubectl's manners."""

    def add_argument(self, *names: str, **given: Any) -> argparse.Action:
        made = super().add_argument(*names, **given)
        if "--namespace" in names:
            # As kubectl spells it, though here all of them is what one gets anyway.
            super().add_argument(
                "-A",
                "--all-namespaces",
                dest="namespace",
                action="store_const",
                const=None,
                help="of all namespaces, which is the default",
            )
        return made

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if _sought.get():
            raise ParserFoundError(self)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        super().error(message + self._meant(message))

    def refuse_empty(self, given: argparse.Namespace, *words: str) -> None:
        """End where an option among *words* is there and names nothing: in a script, a variable that is not set
        would choose everything."""
        for word in words:
            if getattr(given, word) == "":
                self.error(f"--{word.replace('_', '-')} is empty: name something, or leave it out")

    def understood(self) -> list[Understood]:
        return [each for action in self._actions for each in _of(action)]

    def verb(self, name: str) -> "Parser | None":
        """The parser of one of its verbs."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                found = action.choices.get(name)
                return found if isinstance(found, Parser) else None
        return None

    def _meant(self, message: str) -> str:
        """What was probably meant by the first option that is not understood."""
        unknown = re.match(r"unrecognized arguments: (-[^\s=]*)", message)
        if unknown is None:
            return ""
        if unknown[1] in self._option_string_actions:
            return f" (write {unknown[1]} before the verb)"
        if unknown[1] == "--cluster" and "--context" in self._option_string_actions:
            return " (only its own brain knows this of another cluster: ask it, with --context)"
        near = difflib.get_close_matches(unknown[1], self._option_string_actions, n=1)
        return f" (did you mean {near[0]}?)" if near else ""


FILES = ("FILE", "PATH", "DIR")


def _of(action: argparse.Action) -> Iterator[Understood]:
    if action.help == argparse.SUPPRESS:
        return
    if isinstance(action, argparse._SubParsersAction):
        for choice in action._get_subactions():
            yield Understood((choice.dest,), choice.help or "", False, (), False)
        return
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    yield Understood(
        words=tuple(action.option_strings),
        meaning=_plain(action),
        takes_value=action.nargs != 0,
        choices=_words(action.choices),
        is_file=metavar in FILES or metavar.startswith(("FILE", "PROFILE")),
    )


def _plain(action: argparse.Action) -> str:
    """The help without what argparse would fill in."""
    return re.sub(r"%\(\w+\)s", "…", action.help or "").replace("%%", "%")


def _words(choices: Any) -> tuple[str, ...]:
    given: Sequence[Any] = tuple(choices) if choices else ()
    return tuple(map(str, given))
