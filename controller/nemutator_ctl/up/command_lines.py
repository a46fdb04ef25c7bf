"""Command lines: those of the children, and those that people are shown."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.names import BRAIN, CREDENTIALS, OBSERVE, PREFIX

from nemutator_ctl.settings import UpSettings

MODULES = {
    BRAIN: "nemutator_controller",
    CREDENTIALS: "nemutator_agent",
    OBSERVE: "nemutator_agent",
}


@dataclass(frozen=True, slots=True)
class Command:
    """A process to start."""

    argv: tuple[str, ...]
    raised: bool = False
    """Whether it runs as root through sudo: then its supervisor may not send it signals."""


@dataclass(frozen=True, slots=True)
class Typed:
    """How people here type our name, and name this data directory."""

    program: str
    data_dir: Path
    named: bool
    """Whether --data-dir is needed to mean this directory."""

    def command(self, name: str) -> str:
        option = f" --data-dir {shlex.quote(str(self.data_dir))}" if self.named else ""
        return f"{self.program} {name}{option}"


def program(python: str, role: str) -> tuple[str, ...]:
    """The program of *role*, run by our own *python*.

    -P: without it the current directory could replace any module of a process that may be root.
    """
    return (python, "-P", "-m", MODULES[role])


def child(
    python: str, role: str, settings: UpSettings, *, data_dir: Path, config: Path | None
) -> Command:
    """How *role* is started; all other settings it reads from the same environment."""
    options = {
        "lifeline": "true",
        "data-dir": str(data_dir),
        "log-level": settings.children_log_level.value,
        "log-format": settings.log_format.value,
    }
    if role == BRAIN and settings.console is not None:
        options["console"] = settings.console
    if config is not None:
        options["config"] = str(config)
    # Each option is one word, so that no value can be taken for an option.
    return Command((*program(python, role), role, *(f"--{k}={v}" for k, v in options.items())))


def sample(program: Path) -> Command:
    """How the sample is started: it ends when its standard input does."""
    return Command((str(program), "--lifeline"))


def raised(command: Command, sudo: str, *, role: str, environment: Mapping[str, str]) -> Command:
    """*command* as root. sudo drops the environment, so the role's part of it becomes options.

    -n: the question for a password has been answered before, in the foreground.
    """
    options = tuple(_options(role, environment))
    return Command((sudo, "-n", "--", *command.argv, *options), raised=True)


def _options(role: str, environment: Mapping[str, str]) -> Iterable[str]:
    own = f"{PREFIX}_{role}_".upper()
    for name, value in sorted(environment.items()):
        if name.startswith(own):
            yield f"--{name.removeprefix(own).lower().replace('_', '-')}={value}"
