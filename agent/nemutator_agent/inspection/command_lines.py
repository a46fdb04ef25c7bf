"""Finds the script that an interpreter runs: the only word of a command line that is reported.

A command line may hold passwords, tokens and whole programs (`-c`), so nothing of it is reported but
the script, module or class that an interpreter was given, and only where every word before it is a
known option: what follows an unknown option may be its value.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nemutator_common.wire import Runtime

from nemutator_agent.inspection.runtimes import by_name

LONGEST_SCRIPT = 200
"""In characters. Nobody gives a program a longer name."""

# No blanks, and no sign that addresses, assignments and templates have: none of them is a script.
_NAME = re.compile(r"""[^\s:=?&%#*'"`$|;<>(){}\\-][^\s:=?&%#*'"`$|;<>(){}\\]*""")


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of an interpreter, before its script. Any other word ends the search."""

    alone: re.Pattern[str]
    """Options without a value, or with the value in the same word."""
    with_value: frozenset[str]
    """Options whose value is the next word, which is skipped unread."""
    naming: frozenset[str] = frozenset()
    """Options whose value is the script: a module, an archive, a file."""
    suffix: str = ""
    """The end of a script's name, where other words are commands of the interpreter."""


def _options(alone: str, with_value: str = "", naming: str = "", *, suffix: str = "") -> _Options:
    values, names = frozenset(with_value.split()), frozenset(naming.split())
    return _Options(re.compile(alone), values, names, suffix)


_KNOWN: Mapping[Runtime, _Options] = {
    "python": _options(r"-[bBdEiIOPqsSuvx]+|-[WX].+", "-W -X", "-m"),
    "node": _options(
        r"--[a-z-]+=.*|--(?:inspect|inspect-brk|enable-source-maps|expose-gc|no-warnings"
        r"|trace-warnings|no-deprecation|preserve-symlinks)",
        "-r --require --import --loader --experimental-loader -C --conditions",
    ),
    "ruby": _options(r"-[wvdW]|-W[:\w-]+|-[IrE].+|--[a-z-]+(?:=.*)?", "-I -r -E"),
    "perl": _options(r"-[wWtTsSX]+|-[IM].+", "-I"),
    "php": _options(r"-[nqC]|-d.+", "-d -c -z", "-f"),
    "shell": _options(
        r"-[abefhiklmnptuvxBCEHPT]+|\+[a-zA-Z]+|--(?:login|norc|noprofile|posix)", "-o"
    ),
    "java": _options(
        r"-[DX].*|-(?:ea|da|esa|dsa|server|client)(?::.*)?|-(?:agentlib|agentpath|javaagent|verbose)"
        r":.*|--[a-z-]+=.*|--enable-preview",
        "-cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports"
        " --add-reads",
        "-jar -m --module",
    ),
    "dotnet": _options(r"(?!)", suffix=".dll"),
}


def script_of(program: str, words: Sequence[bytes]) -> str | None:
    """The script that *program* runs by its command line; None when that may not be reported.

    *program* is the name of its executable, and the command line must agree with it: another
    program, into which an interpreter is linked, has options of its own.
    """
    texts = [word.decode("utf-8", "backslashreplace") for word in words]
    runtime = by_name(program).runtime
    if not texts or runtime is None or by_name(texts[0]).runtime != runtime:
        return None
    options = _KNOWN.get(runtime)
    return None if options is None else _first_name(texts[1:], options)


def _first_name(words: Sequence[str], options: _Options) -> str | None:
    rest = iter(words)
    for word in rest:
        if word in options.naming:
            name = _named(next(rest, ""))
            return None if name is None else f"{word} {name}"
        if word in options.with_value:
            next(rest, None)
        elif not options.alone.fullmatch(word):
            return _named(word) if word.endswith(options.suffix) else None
    return None


def _named(word: str) -> str | None:
    is_name = len(word) <= LONGEST_SCRIPT and word.isprintable() and _NAME.fullmatch(word)
    # A file descriptor that a parent left open says nothing.
    return word if is_name and not word.startswith(("/dev/", "/proc/")) else None
