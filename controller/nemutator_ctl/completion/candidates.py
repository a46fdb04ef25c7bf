"""What may come next on a command line, from what its command understands."""

from collections.abc import Iterator, Mapping, Sequence

from nemutator_ctl.completion.scripts import FILES
from nemutator_ctl.leading_options import ALONE, WITH_VALUE
from nemutator_ctl.parsers import Parser, Understood


def command_of(words: Sequence[str]) -> tuple[int, str] | None:
    """Where the command stands in *words*, whose last one is not finished; None: nowhere yet."""
    index = 0
    while index < len(words) - 1:
        word = words[index]
        if word in ALONE or ("=" in word and word.partition("=")[0] in WITH_VALUE):
            index += 1
        elif word in WITH_VALUE:
            index += 2
        else:
            return index, word
    return None


def of_commands(words: Sequence[str], commands: Mapping[str, str]) -> list[str]:
    """Candidates for the command itself."""
    current = words[-1] if words else ""
    if len(words) > 1 and words[-2] in WITH_VALUE:
        return [FILES] if words[-2].endswith(("file", "config", "dir")) else []
    if current.startswith("-"):
        known = sorted(word for word in WITH_VALUE | ALONE if word.startswith("--"))
        return [f"{word}\t" for word in known if word.startswith(current)]
    return [f"{name}\t{meaning}" for name, meaning in commands.items() if name.startswith(current)]


def of_options(words: Sequence[str], parser: Parser) -> list[str]:
    """Candidates behind the command, whose *parser* it is; *words* are those behind it."""
    *before, current = words or [""]
    taken = list(before)
    for index, word in enumerate(before):
        inner = parser.verb(word)
        if inner is not None:
            parser, taken = inner, taken[index + 1 :]
            break
    known = parser.understood()
    name, equals, start = current.partition("=")
    if equals and name.startswith("--"):
        return [f"{name}={value}\t" for value in _values(_option(known, name), start)]
    asked = _option(known, taken[-1]) if taken else None
    if asked is not None and asked.takes_value:
        return [FILES] if asked.is_file else [f"{value}\t" for value in _values(asked, current)]
    if current.startswith("-"):
        return [
            f"{word}\t{each.meaning}"
            for each in known
            for word in each.words
            if word.startswith("--" if current == "-" else current)
        ]
    return list(_positional(known, current))


def _positional(known: Sequence[Understood], current: str) -> Iterator[str]:
    for each in known:
        if each.words and not each.words[0].startswith("-"):
            yield from (
                f"{word}\t{each.meaning}" for word in each.words if word.startswith(current)
            )
        elif not each.words and each.choices:
            yield from (f"{value}\t" for value in _values(each, current))
        elif not each.words and each.is_file:
            yield FILES
            return


def _option(known: Sequence[Understood], word: str) -> Understood | None:
    return next((each for each in known if word.startswith("-") and word in each.words), None)


def _values(option: Understood | None, start: str) -> list[str]:
    choices = option.choices if option else ()
    return [value for value in choices if value.startswith(start)]
