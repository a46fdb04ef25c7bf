"""A child that hangs, with real processes and a real socket: what `up` takes for an answer, and does."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nemutator_ctl.up.child import Child, ChildProcess
from nemutator_ctl.up.command_lines import Command
from nemutator_ctl.up.processes import LARGEST_ANSWER, LocalProcesses, SocketHealth

from tests.fakes.clocks import ManualClock
from tests.fakes.processes import SIGKILL, SIGTERM

PATIENCE_S = 60.0
ANSWER_S = 2.0
"""A missed one costs the test as much; one on a busy machine must not be missed for ever."""

SERVES = """
import os, pathlib, socket, sys, time
path, hung_once = map(pathlib.Path, sys.argv[1:])
path.unlink(missing_ok=True)
listener = socket.socket(socket.AF_UNIX)
listener.bind(str(path))
listener.listen()
while True:
    connection, _ = listener.accept()
    connection.recv(4096)
    if hung_once.exists():
        hung_once.unlink()
        time.sleep(3600)
    connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\nok\\n")
    connection.close()
"""
"""Answers each question, until *hung_once* is there."""


class RememberedProcesses(LocalProcesses):
    def __init__(self) -> None:
        super().__init__()
        self.started: list[ChildProcess] = []

    def start(self, command: Command) -> ChildProcess:
        self.started.append(super().start(command))
        return self.started[-1]


class Serving:
    """One such child under supervision, and the clock that its supervisor looks at."""

    def __init__(self, directory: Path) -> None:
        self.processes = RememberedProcesses()
        self.hung_once = directory / "hung-once"
        where = directory / "it.sock"
        self.clock = ManualClock()
        self.child = Child(
            name="it",
            command=Command((sys.executable, "-S", "-c", SERVES, str(where), str(self.hung_once))),
            processes=self.processes,
            health=SocketHealth(where, answer_s=ANSWER_S),
            clock=self.clock,
            roll=lambda: 0.0,
            drain_s=0.5,
        )

    async def ready(self, *, instead_of: int | None = None) -> int:
        """Let the supervisor's time pass until the child is ready; its pid."""
        async with asyncio.timeout(PATIENCE_S):
            while self.child.problem is not None or self.child.pid in (None, instead_of):
                await self.clock.advance(0.05)
        assert self.child.pid is not None
        return self.child.pid


@pytest.mark.parametrize("how", ["stopped", "silent"])
async def test_a_hung_child_is_ended_and_another_answers(tmp_path: Path, how: str) -> None:
    serving = Serving(tmp_path)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(serving.child.run())
        hung = await serving.ready()
        if how == "stopped":
            os.kill(hung, signal.SIGSTOP)
        else:
            serving.hung_once.touch()
        assert await serving.ready(instead_of=hung) != hung
        running.cancel()
        while not running.done():
            await serving.clock.advance(0.05)
    async with asyncio.timeout(PATIENCE_S):
        ends = [await process.ended() for process in serving.processes.started]
    assert ends[0] in (SIGTERM, SIGKILL)


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(tmp_path / "it.sock"))
        opened.listen()
        yield opened


def health(listener: socket.socket) -> SocketHealth:
    return SocketHealth(Path(listener.getsockname()), answer_s=PATIENCE_S)


async def answered(listener: socket.socket, given: bytes) -> tuple[str | None, bool]:
    """What is made of *given*, as an answer about readiness and as one about health."""

    def answer() -> None:
        for _ in range(2):
            connection, _ = listener.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(given)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(asyncio.to_thread(answer))
        return await health(listener).problem(), await health(listener).answers()


SILENT = ("it does not answer yet", False)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nready\n", (None, True)),
        (b"HTTP/1.1 503 No\r\n\r\nspool: full\nlink: down\n", ("spool: full; link: down", True)),
        (b"HTTP/1.1 500 No\r\n\r\n\x1b[2J", ("\\x1b[2J", True)),
        (b"HTTP/1.1 2", SILENT),
        (b"220 mail.example ESMTP\r\n", SILENT),
        (b"", SILENT),
    ],
)
async def test_any_http_answer_is_a_sign_of_life(
    listener: socket.socket, given: bytes, made: tuple[str | None, bool]
) -> None:
    assert await answered(listener, given) == made


async def test_a_socket_that_is_not_there_or_that_nobody_serves_is_silence(tmp_path: Path) -> None:
    where = tmp_path / "it.sock"
    assert not await SocketHealth(where).answers()
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(where))
        assert not await SocketHealth(where).answers()


async def test_who_accepts_and_says_nothing_is_given_up_in_time(listener: socket.socket) -> None:
    assert not await SocketHealth(Path(listener.getsockname()), answer_s=0.05).answers()


async def test_an_answer_without_an_end_is_read_up_to_its_bound(listener: socket.socket) -> None:
    given = b"HTTP/1.1 503 No\r\n\r\n" + b"x" * LARGEST_ANSWER
    problem, answers = await answered(listener, given)
    assert (len(str(problem)) <= 200, answers) == (True, True)
