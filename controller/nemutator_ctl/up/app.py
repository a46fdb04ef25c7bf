"""Wires `nemutator up`: the only file here that knows everybody."""

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

from nemutator_common import __version__, data_directory, names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import OperatorError
from nemutator_common.names import BRAIN, CREDENTIALS, OBSERVE
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock

from nemutator_ctl import answers, local_api, nodes
from nemutator_ctl.local_api import LocalApi
from nemutator_ctl.settings import UpSettings
from nemutator_ctl.up import commands, lock, person, raising
from nemutator_ctl.up.announcement import Standing, Unseen, announcement
from nemutator_ctl.up.announcing import Announcer
from nemutator_ctl.up.keeping import Keeper, Probe
from nemutator_ctl.up.local_processes import LocalProcesses
from nemutator_ctl.up.local_stage import LocalStage
from nemutator_ctl.up.observing import Observing
from nemutator_ctl.up.processes import Command
from nemutator_ctl.up.returning import Returning
from nemutator_ctl.up.showing import Showing
from nemutator_ctl.up.trying import Places, Tries, told

log = logging.getLogger(__name__)

SAMPLE = "sample"

DRAIN_S = {BRAIN: 1.0, CREDENTIALS: 0.5, OBSERVE: 0.5, SAMPLE: 0.2}
"""Together with what the kernel needs for those that must be killed: 2 s, the promise of Ctrl-C."""

ANSWER_S = 1.0
"""For an answer of the brain: `up` has other things to do, and asks again."""


async def run(settings: UpSettings, stop: asyncio.Event, *, config: str | None) -> None:
    """Keep everything running until *stop*."""
    directory = data_directory.prepare(settings.data_dir)
    async with lock.held(directory, stop=stop, clock=SystemClock()) as lock_fd:
        if lock_fd is not None:
            directory.renew_link_token()
            await _Household(settings, directory, config, lock_fd).run(stop)


class _Household:
    def __init__(
        self, settings: UpSettings, directory: DataDirectory, config: str | None, lock_fd: int
    ) -> None:
        self._settings = settings
        self._directory = directory
        self._config = Path(config).absolute() if config else None
        self._sample = Path(settings.sample).absolute() if settings.sample else None
        self._processes = LocalProcesses(held_fds=[lock_fd])
        self._clock = SystemClock()
        self._brain = LocalApi(directory, timeout_s=ANSWER_S)

    async def run(self, stop: asyncio.Event) -> None:
        brain, credentials, observe = map(self._keeper, (BRAIN, CREDENTIALS, OBSERVE))
        plain, answered, moved = self._command(OBSERVE), asyncio.Event(), asyncio.Event()
        returning = Returning(
            brain=brain,
            plain=self._command(BRAIN),
            at=lambda address: self._command(BRAIN, console=address),
            moved=moved,
        )
        observing = Observing(
            keeper=observe,
            brain=brain,
            plain=plain,
            raised=lambda sudo: commands.raised(plain, sudo, role=OBSERVE, environment=os.environ),
            outcome=lambda: raising.outcome(
                self._settings.privileges,
                root=os.geteuid() == 0,
                supervised=self._settings.lifeline,
                program=commands.program(sys.executable, OBSERVE),
                person=person,
            ),
            answered=answered,
        )
        announcer = Announcer(
            keepers=(brain, credentials, observe),
            answered=answered,
            moved=moved,
            clock=self._clock,
            link=lambda: self._link(returning),
            unseen=lambda: asyncio.to_thread(self._unseen),
            say=self._say,
        )
        supervisor = Supervisor()
        # The last is stopped first: observe still delivers what it has while the brain is there.
        supervisor.add(BRAIN, returning.run)
        supervisor.add(CREDENTIALS, lambda: credentials.keep(self._command(CREDENTIALS)))
        supervisor.add(OBSERVE, observing.run)
        if self._sample is not None:
            showing = Showing(
                sample=self._keeper(SAMPLE),
                command=commands.sample(self._sample),
                needed=(brain, credentials, observe),
                stage=LocalStage(self._directory),
                clock=self._clock,
                say=self._say_tries,
            )
            supervisor.add(SAMPLE, showing.run)
        supervisor.add("announcement", announcer.run)
        await supervisor.run(stop)

    def _keeper(self, role: str) -> Keeper:
        return Keeper(
            role,
            processes=self._processes,
            probe=self._probe(role),
            clock=self._clock,
            roll=random.random,
            drain_s=DRAIN_S[role],
        )

    def _probe(self, role: str) -> Probe:
        if role == SAMPLE:
            return _nothing_to_ask
        socket = self._directory.socket(role)
        return lambda: asyncio.to_thread(local_api.not_ready, socket)

    def _command(self, role: str, *, console: str | None = None) -> Command:
        return commands.child(
            sys.executable,
            role,
            self._settings if console is None else replace(self._settings, console=console),
            data_dir=self._directory.root,
            config=self._config,
        )

    async def _link(self, returning: Returning) -> str | None:
        try:
            link = answers.link(await asyncio.to_thread(self._brain.post, answers.LINKS_PATH))
        except OperatorError as error:
            log.info("no_link", {names.ERROR: error.what})
            return None
        returning.found(link)
        return link

    def _unseen(self) -> Sequence[Unseen] | None:
        """What our own `observe` says that it cannot get; None before its first report."""
        try:
            known = nodes.decode(self._brain.get(nodes.TOPOLOGY_PATH))
        except OperatorError:
            return None
        fresh = [node for node in known if not node.stale]
        if not fresh:
            return None
        return [Unseen(fact.what, fact.why, fact.remedy) for fact in fresh[0].missing]

    def _say(
        self, processes: Sequence[Standing], unseen: Sequence[Unseen], link: str | None
    ) -> None:
        _print(
            announcement(
                version=__version__,
                program=_typed(),
                data_dir=self._directory.root,
                named=self._named(),
                processes=processes,
                unseen=unseen,
                link=link,
            )
        )

    def _say_tries(self, tries: Tries) -> None:
        _print(
            told(
                tries,
                Places(
                    data_dir=self._directory.root,
                    socket=self._directory.root / names.POD_SOCKET,
                    objects=self._directory.objects,
                ),
                program=_typed(),
                named=self._named(),
            )
        )

    def _named(self) -> bool:
        """Whether commands need --data-dir to mean this directory."""
        return self._directory != data_directory.named(UpSettings().data_dir)


async def _nothing_to_ask() -> str | None:
    """The sample serves nothing: that it runs is all there is to know."""
    return None


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        # Whoever read our output is gone; what runs goes on.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _typed() -> str:
    """What the person here types for `nemutator`: `make run` puts nothing on the PATH."""
    beside = Path(sys.executable).with_name(names.PREFIX)
    if shutil.which(names.PREFIX) or not beside.exists():
        return names.PREFIX
    here = Path.cwd()
    return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))
