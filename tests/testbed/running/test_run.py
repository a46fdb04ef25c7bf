"""A run starts daemons, waits for them, and leaves nothing."""

import os
import signal
import stat
from pathlib import Path

import pytest

from tests.testbed.running.daemons import DaemonFailedError
from tests.testbed.running.leftovers import MARK
from tests.testbed.running.run import running


def test_daemons_are_ended_in_reverse_order() -> None:
    ended: list[str] = []
    with running() as run:
        first = run.daemon("first", ["sleep", "600"], ready=lambda: True, within_s=60)
        run.at_end(lambda: ended.append("between" if first.process.poll() is None else "late"))
        second = run.daemon("second", ["sleep", "600"], ready=lambda: True, within_s=60)
    assert ended == ["between"]
    assert first.process.returncode == second.process.returncode == -signal.SIGTERM


def test_a_daemon_that_ends_is_told_with_what_it_said() -> None:
    with running() as run, pytest.raises(DaemonFailedError, match=r"(?s)ended with 3.*no luck"):
        run.daemon("bad", ["sh", "-c", "echo no luck; exit 3"], ready=lambda: False, within_s=60)


def test_a_daemon_that_is_never_ready_is_told_with_what_it_said() -> None:
    command = ["sh", "-c", "echo still at it; exec sleep 600"]
    complaint = r"(?s)slow is ready: not within.*still at it"
    with running() as run, pytest.raises(DaemonFailedError, match=complaint):
        run.daemon("slow", command, ready=lambda: False, within_s=0.5)
    assert not run.directory.exists()


def test_one_that_does_not_listen_is_killed() -> None:
    with running() as run:
        deaf = run.daemon(
            "deaf",
            ["sh", "-c", "trap '' URG; exec sleep 600"],
            ready=lambda: True,
            within_s=60,
            stop=signal.SIGURG,
        )
        deaf.stop(within_s=0.1)
        assert deaf.process.returncode == -signal.SIGKILL


def test_one_that_was_killed_begins_again_and_is_ended_with_the_run() -> None:
    with running() as run:
        command = ["sh", "-c", "echo here; exec sleep 600"]
        run.started("echo", command)
        daemon = run.daemons["echo"]
        daemon.wait_until(lambda: daemon.said() == "here\n", within_s=60)
        daemon.kill()
        before = daemon.pid
        daemon.begin_again()
        daemon.wait_until(lambda: daemon.said() == "here\nhere\n", within_s=60)
        assert daemon.pid != before
    assert daemon.process.returncode == -signal.SIGTERM


def test_a_daemon_gets_nothing_of_our_environment() -> None:
    with running() as run:
        env = run.daemon(
            "env", ["sh", "-c", "env; echo end; exec sleep 600"],
            ready=lambda: "end\n" in (run.logs / "env.log").read_text(),
            within_s=60,
            environment={"OWN": "1"},
        )  # fmt: skip
        names = {line.partition("=")[0] for line in env.said().splitlines()}
        assert {"OWN", "HOME", MARK, "PATH"} <= names
        assert not names & (set(os.environ) - {"HOME", "PATH", "PWD", "SHLVL", "_", "OLDPWD", MARK})


def test_files_of_a_run_are_for_its_user_alone() -> None:
    with running() as run:
        secret = run.file("pki/token", "s3cret")
        public = run.file("pki/ca.crt", b"text", mode=0o644)
        folder = run.folder("data")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (secret, public, folder)]
        assert modes == [0o600, 0o644, 0o700]


def test_logs_can_be_kept(tmp_path: Path) -> None:
    with running() as run:
        run.daemon(
            "talker", ["sh", "-c", "echo hello; exec sleep 600"],
            ready=lambda: (run.logs / "talker.log").stat().st_size > 0,
            within_s=60,
        )  # fmt: skip
        run.keep_logs(tmp_path / "kept")
    assert (tmp_path / "kept" / "talker.log").read_text() == "hello\n"
