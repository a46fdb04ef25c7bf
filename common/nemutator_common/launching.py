"""From a command line to a running process, the same way for every role.

This module reads flags, file and environment, sets up logs, turns signals and a closed lifeline
into one `stop` event, and turns the way the process ended into a documented exit code. What the
process does is the role's `run(settings, stop)`.
"""

import argparse
import asyncio
import contextlib
import gc
import importlib
import logging
import os
import resource
import signal
import sys
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from nemutator_common import __version__, logs, names
from nemutator_common.core_dumps import forbid_core_dumps
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.old_objects import EVERY_S, OldObjects
from nemutator_common.settings import (
    LogFormat,
    Resolved,
    Shared,
    fields,
    printed,
    resolve,
)
from nemutator_common.supervising import HungTasksError
from nemutator_common.thread_memory import share_memory_among_threads

log = logging.getLogger(__name__)

S = TypeVar("S", bound=Shared)

LARGEST_SETTINGS_FILE = 1 << 20


@dataclass(frozen=True, slots=True)
class Role(Generic[S]):
    """One process that an entry point can become."""

    schema: type[S]
    run: Callable[[S, asyncio.Event], Awaitable[None]]
    summary: str
    holds_secrets: bool = False
    """Its memory may be in no core file."""


YOUNG_OBJECTS = 10_000
"""This is more than one request makes. A request leaves almost nothing to the garbage collector, so
a collection in the middle of each request is not worth its cost. Python's own number is 700."""


SWITCH_S = 0.0001
"""For how long a thread computes before one that waits has its turn. With Python's own 5 ms, each time that the event loop wakes
it waits as long as that for a thread that counts or encodes. The loop gives its turn back with each callback, and so waits often."""


def from_module(
    module: str, *, old_objects: OldObjects | None = None
) -> Callable[[Any, asyncio.Event], Awaitable[None]]:
    """The `run` of *module*, which is imported when it is called and not before.

    Objects that survive two collections of the garbage collector count as old; *old_objects* says when
    those are examined, if not each time when their number has grown by a quarter.
    """

    async def run(settings: Any, stop: asyncio.Event) -> None:
        imported = importlib.import_module(module)
        # Code is never garbage: without this, each full collection would traverse all of it.
        gc.collect()
        gc.freeze()
        sys.setswitchinterval(SWITCH_S)
        gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
        if old_objects is not None:
            old_objects.watch()
            _examine_new(old_objects, asyncio.get_running_loop())
        await imported.run(settings, stop)

    return run


def _examine_new(old_objects: OldObjects, loop: asyncio.AbstractEventLoop) -> None:
    """Now, and again and again until *loop* ends."""
    old_objects.examine_new()
    loop.call_later(EVERY_S, _examine_new, old_objects, loop)


def main(program: str, roles: Sequence[Role[Any]], argv: Sequence[str] | None = None) -> int:
    """Become one of *roles*, and return the exit code of the process."""
    parser = argparse.ArgumentParser(prog=program, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(dest="role", required=True, metavar="ROLE")
    for role in roles:
        subparser = subparsers.add_parser(role.schema.role, help=role.summary, allow_abbrev=False)
        add_settings(subparser, role.schema)
    arguments = parser.parse_args(argv)
    role = next(role for role in roles if role.schema.role == arguments.role)
    return start(f"{program} {role.schema.role}", role, arguments)


def add_settings(parser: argparse.ArgumentParser, schema: type[Shared]) -> None:
    """Add a flag for each setting of *schema*; the values are validated later, all at once."""
    parser.add_argument("--config", metavar="FILE", help="settings file (TOML)")
    parser.add_argument(
        "--print-settings", action="store_true", help="print the settings in force, and stop"
    )
    for field in fields(schema):
        takes_value = field.annotation is not bool
        parser.add_argument(
            field.flag,
            dest=f"setting:{field.name}",
            metavar="VALUE" if takes_value else "true|false",
            nargs=None if takes_value else "?",
            const=None if takes_value else "true",
            help=f"{field.meaning} [{field.variable}]".replace("%", "%%"),
        )


def start(program: str, role: Role[S], arguments: argparse.Namespace) -> int:
    """Run *role* with parsed *arguments* until it ends, and return its exit code."""
    try:
        resolved = settings_from(role.schema, arguments)
    except OperatorError as error:
        complain(program, error)
        return error.code
    if arguments.print_settings:
        sys.stdout.write(printed(resolved))
        return ExitCode.OK
    settings = resolved.values
    if role.holds_secrets:
        forbid_core_dumps()
    # Before there is a second thread.
    share_memory_among_threads()
    logs.configure(role=settings.role, level=settings.log_level, style=settings.log_format)
    try:
        _run(role, settings)
    except KeyboardInterrupt:
        # Ctrl-C came before the signal handlers were installed: there was nothing to stop yet.
        return ExitCode.OK
    except BaseException as error:  # noqa: BLE001 - any failure becomes an exit code
        return _ending(program, settings, error)
    return ExitCode.OK


def settings_from(schema: type[S], arguments: argparse.Namespace) -> Resolved[S]:
    """The settings of *schema* from file, environment and the flags in *arguments*."""
    flags = {
        key.removeprefix("setting:"): value
        for key, value in vars(arguments).items()
        if key.startswith("setting:") and value is not None
    }
    file = _read_toml(Path(arguments.config)) if arguments.config else {}
    return resolve(schema, file=file, environment=os.environ, flags=flags)


def complain(program: str, error: OperatorError) -> None:
    sys.stderr.write(f"{program}: {error}\n")


def _read_toml(path: Path) -> Mapping[str, object]:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_SETTINGS_FILE + 1)
        if len(content) > LARGEST_SETTINGS_FILE:
            raise ValueError(f"larger than {LARGEST_SETTINGS_FILE} bytes")
        return tomllib.loads(content.decode())
    except (OSError, ValueError) as error:
        # An OSError's own text repeats the path.
        why = error.strerror if isinstance(error, OSError) else error
        raise OperatorError(
            f"settings file {path}: {why}",
            remedy="name a readable TOML file with --config",
            code=ExitCode.SETTINGS,
        ) from error


def _run(role: Role[S], settings: S) -> None:
    # This is imported here because the command line uses this module and must start without uvloop.
    import uvloop

    _raise_file_limit()

    async def body() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        with _lifeline(loop, stop) if settings.lifeline else contextlib.nullcontext():
            await role.run(settings, stop)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(body())


@contextlib.contextmanager
def _lifeline(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> Iterator[None]:
    """Set *stop* when standard input ends: only the supervisor holds its other end."""

    def readable() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            loop.remove_reader(sys.stdin.fileno())
            stop.set()

    loop.add_reader(sys.stdin.fileno(), readable)
    try:
        yield
    finally:
        loop.remove_reader(sys.stdin.fileno())


def _raise_file_limit() -> None:
    """Raise our limit on open files to its maximum: other code bounds what we hold open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _ending(program: str, settings: Shared, error: BaseException) -> int:
    known = _operator_error(error)
    if known is not None:
        if settings.log_format is LogFormat.JSON:
            log.critical("cannot_go_on", {names.ERROR: known})
        else:
            # The complaint is the last line: whoever started the process looks there.
            logs.flush()
            complain(program, known)
        return known.code
    hung = error if isinstance(error, HungTasksError) else None
    log.critical("defect", {names.ERROR: type(error).__name__}, exc_info=error)
    if hung is not None:
        # The hung tasks ignore cancellation, so an orderly exit would wait for them for ever.
        logging.shutdown()
        os._exit(ExitCode.INTERNAL)
    return ExitCode.INTERNAL


def _operator_error(error: BaseException) -> OperatorError | None:
    if isinstance(error, OperatorError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_operator_error, error.exceptions)), None)
    return None
