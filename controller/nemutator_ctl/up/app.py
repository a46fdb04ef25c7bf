"""Wires `nemutator up`: the only file here that knows all the others."""

import asyncio
import logging
import os
import random
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from nemutator_common import __version__, names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import named, prepare, renew_link_token
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.names import BRAIN, CREDENTIALS, OBSERVE
from nemutator_common.serving.sockets import remove_left
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock

from nemutator_ctl import answers, nodes
from nemutator_ctl.local_api import LocalApi
from nemutator_ctl.settings import UpSettings
from nemutator_ctl.up import command_lines, lock, privileges, sudo
from nemutator_ctl.up.announcement import ChildStatus, StartAnnouncer, announcement, waiting
from nemutator_ctl.up.child import Child, Health, Preferred
from nemutator_ctl.up.command_lines import Command, Typed
from nemutator_ctl.up.processes import LocalProcesses, SocketHealth
from nemutator_ctl.up.sample import Sample
from nemutator_ctl.up.sample_api import LocalSampleApi

log = logging.getLogger(__name__)

SAMPLE = "sample"

DRAIN_S = {BRAIN: 1.0, CREDENTIALS: 0.5, OBSERVE: 0.5, SAMPLE: 0.2}
"""With the time that killed ones need to vanish, at most 2 s: the promise of Ctrl-C."""


async def run(settings: UpSettings, stop: asyncio.Event, *, config: str | None) -> None:
    """Keep everything running until *stop*."""
    directory = prepare(settings.data_dir)
    async with lock.held(directory, stop=stop, clock=SystemClock()) as lock_fd:
        if lock_fd is None:
            return
        # Nothing runs yet whose messages could appear in the middle of the question.
        privilege = await _privilege(settings, stop)
        if privilege is not None:
            renew_link_token(directory)
            # Of one that was killed: no other holds the lock.
            await asyncio.to_thread(remove_left, directory.root)
            await _Application(settings, directory, config, lock_fd).run(privilege, stop)


async def _privilege(
    settings: UpSettings, stop: asyncio.Event
) -> privileges.ObservePrivilege | None:
    """How `observe` may run; None when *stop* came first."""
    async with asyncio.TaskGroup() as tasks:
        settling = tasks.create_task(
            privileges.settle(
                settings.privileges,
                root=os.geteuid() == 0,
                supervised=settings.lifeline,
                program=command_lines.program(sys.executable, OBSERVE),
                terminal=sudo,
            )
        )
        stopping = tasks.create_task(stop.wait())
        await asyncio.wait({settling, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        settling.cancel()
    return None if stop.is_set() else settling.result()


class _Application:
    def __init__(
        self, settings: UpSettings, directory: DataDirectory, config: str | None, lock_fd: int
    ) -> None:
        self._settings = settings
        self._directory = directory
        self._config = Path(config).absolute() if config else None
        self._processes = LocalProcesses(held_fds=[lock_fd])
        self._clock = SystemClock()
        self._asked = LocalApi(directory)
        self._moved = asyncio.Event()
        self._typed = Typed(
            program=_typed_program(),
            data_dir=directory.root,
            named=directory != named(UpSettings().data_dir),
        )
        self._brain = self._child(BRAIN)
        self._credentials = self._child(CREDENTIALS)
        self._observe = self._child(OBSERVE, after=self._brain)

    async def run(self, privilege: privileges.ObservePrivilege, stop: asyncio.Event) -> None:
        self._observe.note = privilege.note
        if privilege.sudo is not None:
            self._raise_observe(privilege.sudo)
        children = (self._brain, self._credentials, self._observe)
        announcer = StartAnnouncer(
            children=children,
            moved=self._moved,
            clock=self._clock,
            link=self._link,
            missing=lambda: asyncio.to_thread(self._missing),
            say_waiting=lambda children: _print(waiting(children)),
            say=self._say,
        )
        supervisor = Supervisor()
        # The last is stopped first: observe still delivers what it has while the brain is there.
        for child in children:
            supervisor.add(child.name, child.run)
        if self._settings.sample:
            supervisor.add(SAMPLE, self._sample(self._settings.sample, children).run)
        supervisor.add("announcement", announcer.run)
        try:
            await supervisor.run(stop)
        finally:
            # A child that did not end in time was killed, and could not remove its own.
            ended = {child.pid for child in children}
            await asyncio.to_thread(remove_left, self._directory.root, ended=ended)

    def _child(self, role: str, *, after: Child | None = None) -> Child:
        socket = self._directory.socket(role)
        command = self._command(role, self._settings)
        return self._supervised(role, command, SocketHealth(socket), after=after)

    def _sample(self, program: str, needed: tuple[Child, ...]) -> Sample:
        command = command_lines.sample(Path(program).absolute())
        return Sample(
            child=self._supervised(SAMPLE, command, None),
            needed=needed,
            api=LocalSampleApi(self._directory),
            clock=self._clock,
            typed=self._typed,
            objects=self._directory.objects,
            say=_print,
        )

    def _supervised(
        self, name: str, command: Command, health: Health | None, *, after: Child | None = None
    ) -> Child:
        return Child(
            name=name,
            command=command,
            processes=self._processes,
            health=health,
            clock=self._clock,
            roll=random.random,
            drain_s=DRAIN_S[name],
            after=after,
        )

    def _command(self, role: str, settings: UpSettings) -> Command:
        return command_lines.child(
            sys.executable, role, settings, data_dir=self._directory.root, config=self._config
        )

    def _raise_observe(self, sudo_path: str) -> None:
        """Run `observe` as root while that works; fewer facts are better than none."""

        def given_up(error: OperatorError) -> None:
            log.warning("observe_not_raised", {names.REASON: error.what})
            self._observe.note = "as an ordinary user: it could not be kept running as root"

        command = command_lines.raised(
            self._observe.command, sudo_path, role=OBSERVE, environment=os.environ
        )
        self._observe.prefer(Preferred(command, ExitCode.CHILD_DIED, given_up))

    async def _link(self) -> str | None:
        if self._brain.problem is not None:
            return None
        try:
            link = answers.link(await asyncio.to_thread(self._asked.post, answers.LINKS_PATH))
        except OperatorError as error:
            log.info("no_link", {names.ERROR: error.what})
            return None
        self._keep_address(urlsplit(link).netloc)
        return link

    def _keep_address(self, console: str) -> None:
        """Start the brain where people have found it.

        Its page is open there, and the cookie's name has the port. With `--console 127.0.0.1:0`
        each new brain would otherwise choose another port.
        """

        def given_up(_: OperatorError) -> None:
            log.warning("console_moved", {names.REASON: "another process listens there now"})
            self._moved.set()

        command = self._command(BRAIN, replace(self._settings, console=console))
        self._brain.prefer(Preferred(command, ExitCode.ADDRESS_IN_USE, given_up))

    def _missing(self) -> Sequence[nodes.Fact] | None:
        """What our own `observe` says that it cannot get; None before its first report."""
        try:
            known = nodes.decode(self._asked.get(nodes.TOPOLOGY_PATH))
        except OperatorError:
            return None
        return next((node.missing for node in known if not node.stale), None)

    def _say(
        self, children: Sequence[ChildStatus], missing: Sequence[nodes.Fact], link: str | None
    ) -> None:
        _print(
            announcement(
                self._typed, version=__version__, children=children, missing=missing, link=link
            )
        )


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        # The reader of our output is gone; what runs goes on.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _typed_program() -> str:
    """How `nemutator` is typed here: `make run` puts nothing on the PATH."""
    beside = Path(sys.executable).with_name(names.PREFIX)
    if shutil.which(names.PREFIX) or not beside.exists():
        return names.PREFIX
    here = Path.cwd()
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))
