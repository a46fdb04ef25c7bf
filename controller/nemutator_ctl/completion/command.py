"""`nemutator completion`, and what its scripts ask."""

import contextlib
import io
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from nemutator_common.errors import ExitCode

from nemutator_ctl.completion import candidates
from nemutator_ctl.completion.scripts import SCRIPTS
from nemutator_ctl.parsers import Parser, ParserFoundError, seeking

HOW = """\
for this shell, or for all to come:
  bash   source <(nemutator completion bash)          # in ~/.bashrc
  zsh    source <(nemutator completion zsh)           # in ~/.zshrc, after compinit
  fish   nemutator completion fish | source           # in ~/.config/fish/config.fish
"""


def main(argv: Sequence[str]) -> int:
    import argparse

    parser = Parser(
        prog="nemutator completion",
        description="Print what teaches a shell to complete nemutator.",
        epilog=HOW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=sorted(SCRIPTS))
    sys.stdout.write(SCRIPTS[parser.parse_args(argv).shell])
    return ExitCode.OK


def complete(words: Sequence[str], commands: Mapping[str, tuple[str, str]]) -> int:
    """Print the candidates for the last of *words*; whatever is wrong, a shell gets none."""
    given = list(words[1:] if words[:1] == ["--"] else words) or [""]
    found = candidates.command_of(given)
    if found is None:
        meanings = {name: summary for name, (_, summary) in commands.items()}
        lines = candidates.of_commands(given, meanings)
    else:
        index, name = found
        parser = _parser(commands[name][0]) if name in commands else None
        lines = candidates.of_options(given[index + 1 :], parser) if parser else []
    sys.stdout.write("".join(f"{' '.join(line.splitlines())}\n" for line in lines))
    return ExitCode.OK


def _parser(module: str) -> Parser | None:
    """That of a command, which is not run for it."""
    quiet = contextlib.redirect_stderr(io.StringIO())
    with seeking(), quiet, contextlib.suppress(SystemExit):
        try:
            import_module(module).main(["--help"])
        except ParserFoundError as found:
            return found.parser
    return None
