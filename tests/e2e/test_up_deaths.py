"""`nemutator up` when something ends or cannot go on: its children, itself, its disk."""

import os
import re
import select
import signal
import time
import urllib.request
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode

from tests.e2e.standing import (
    KEPT,
    START_S,
    STOP_S,
    Person,
    Standing,
    fill,
    small_disk,
    standing,
    starting,
)
from tests.e2e.talking import counted
from tests.processes import alive

INTERVAL_S = 1.0

QUICK = Person(environment={"NEMUTATOR_OBSERVE_INTERVAL_S": str(INTERVAL_S)})

HUNG_S = 120.0
"""A stopped child is found within 35 s; the rest is for a machine that is busy."""


def moments(up: Standing) -> list[float]:
    """When each report was taken that the brain has in its history."""
    answer = up.api(f"/api/v1/history?node={os.uname().nodename}&since_s=3600")
    return [point["at"] for point in answer.document["points"]] if answer.status == 200 else []


def kill(up: Standing, role: str) -> int:
    """End it at once; the pid that it had."""
    pid = up.children()[role]
    os.kill(pid, signal.SIGKILL)
    return pid


def wait_until_started(up: Standing, role: str, *, instead_of: int) -> None:
    up.wait_until(
        lambda: up.children().get(role, instead_of) != instead_of,
        f"another {role}",
        within_s=START_S,
    )


def wait_until_reported(up: Standing, after: float, what: str) -> None:
    def reported() -> bool:
        return any(at > after for at in moments(up))

    up.wait_until(reported, what, within_s=START_S)


def test_a_killed_brain_comes_back_and_the_history_has_no_gap_and_no_double(tmp_path: Path) -> None:
    # The last of two options counts: any port, which the next brain must find again.
    with standing(tmp_path, "--console", "127.0.0.1:0", person=QUICK) as up:
        wait_until_reported(up, 0.0, "a report before")
        observe = up.children()["observe"]
        link = up.another_link()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert browser.open(link, timeout=START_S).status == 200
        away_at = time.time()
        for _ in range(3):
            # Again as soon as there is another, so that it is away for more than an interval.
            brain = kill(up, "brain")
            wait_until_started(up, "brain", instead_of=brain)
        up.wait_until(lambda: up.ready("brain"), "the last brain", within_s=START_S)
        back_at = time.time()
        wait_until_reported(up, back_at + INTERVAL_S, "a report after")

        assert back_at - away_at > INTERVAL_S
        sent_before = counted(up.socket("observe"), "nemutator_uplink_sent_total", stream="reports")
        stored = moments(up)
        looks_after = counted(
            up.socket("observe"), "nemutator_usage_snapshots_total", result="done"
        )
        # Each look once: neither a report of the time in between is missing, nor one that was
        # sent again is there twice.
        assert sent_before <= len(stored) <= looks_after
        assert any(away_at < at < back_at for at in stored)
        assert counted(up.socket("brain"), "nemutator_reports_lost_total") == 0
        assert counted(up.socket("observe"), "nemutator_uplink_dropped_total") == 0
        assert up.children()["observe"] == observe, "its life has nothing to do with the brain's"

        said = up.said()
        assert len(re.findall(r'"child_ended".*"process": "brain".*"exit": "SIGKILL"', said)) == 3
        assert "Traceback" not in said
        assert link.partition("key=")[2] not in said
        assert up.another_link() != link
        page = link.partition("/open")[0]
        assert up.another_link().startswith(f"{page}/")
        assert browser.open(f"{page}/api/v1/topology", timeout=START_S).status == 200
        # A slow machine is told before all are ready, too.
        told = [one.partition("  Stop  ")[0] for one in said.split(", data in ")[1:]]
        whole = [one for one in told if "not ready: " not in one]
        assert len(whole) == 1, "there was nothing new to tell"


def test_a_killed_observe_comes_back_and_goes_on_reporting(tmp_path: Path) -> None:
    with standing(tmp_path, person=QUICK) as up:
        family = up.family()
        pid = kill(up, "observe")
        wait_until_started(up, "observe", instead_of=pid)
        up.wait_until(lambda: up.ready("observe"), "the other observe", within_s=START_S)
        wait_until_reported(up, time.time(), "a report of the new one")
        assert re.search(r'"child_ended".*"process": "observe".*"exit": "SIGKILL"', up.said())
        others = {up.children()[role] for role in ("brain", "credentials")}
        assert alive(family) == {up.process.pid, *others}, "its own children end with it"
        stored = moments(up)
        assert len(stored) == len(set(stored))


def test_a_stopped_child_is_replaced_and_that_is_said(tmp_path: Path) -> None:
    with standing(tmp_path, person=QUICK) as up:
        observe, pid = up.children()["observe"], up.children()["brain"]
        os.kill(pid, signal.SIGSTOP)
        up.wait_until(
            lambda: re.search(
                rf'"child_hung".*"process": "brain", "pid": {pid}, "reason": "it was stopped',
                up.said(),
            ),
            "a word about it",
            within_s=HUNG_S,
        )
        wait_until_started(up, "brain", instead_of=pid)
        up.wait_until(lambda: up.ready("brain"), "the other brain", within_s=START_S)
        wait_until_reported(up, time.time(), "a report to the new one")
        assert up.children()["observe"] == observe, "nothing else was taken for hung"
        assert up.said().count("child_hung") == 1


def test_the_children_of_a_killed_up_end_and_the_next_starts_at_once(tmp_path: Path) -> None:
    (first, second) = (tmp_path / "first", tmp_path / "second")
    first.mkdir()
    second.mkdir()
    with standing(first) as up:
        family = up.family()
        up.process.kill()
        up.process.wait(STOP_S)
        (second / "data").symlink_to(up.data_dir)
        # At once: those of the first may still be there, and it waits for them.
        with standing(second) as next_up:
            assert not alive(family)
            assert next_up.ready("brain")


def test_what_a_killed_up_has_left_is_gone_after_the_next_start(tmp_path: Path) -> None:
    (first, second) = (tmp_path / "first", tmp_path / "second")
    first.mkdir()
    second.mkdir()
    with standing(first) as up:
        family = up.family()
        for number in (signal.SIGSTOP, signal.SIGKILL):
            # First none of them goes on, so that none ends by itself when it misses another.
            for pid in family:
                os.kill(pid, number)
        up.process.wait(STOP_S)
        wait_for_the_end(family, within_s=STOP_S)
        assert up.socket("observe").is_socket()
        # As one of a process that this version does not start any more.
        up.socket("observe").rename(up.socket("former"))
        (second / "data").symlink_to(up.data_dir)
        with standing(second) as next_up:
            assert not next_up.socket("former").exists()
            next_up.stop()


def test_the_children_of_a_killed_up_end_on_their_own(tmp_path: Path) -> None:
    with standing(tmp_path) as up:
        family = up.family()
        up.process.kill()
        up.process.wait(STOP_S)
        wait_for_the_end(family, within_s=STOP_S)


def wait_for_the_end(pids: set[int], *, within_s: float) -> None:
    """Of processes that need not be our children."""
    deadline = time.monotonic() + within_s
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            ended, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        finally:
            os.close(fd)
        assert ended, f"{pid} still runs"


@pytest.mark.parametrize("role", ["brain", "observe"])
def test_a_child_that_is_held_still_does_not_hold_up_the_end(tmp_path: Path, role: str) -> None:
    with standing(tmp_path) as up:
        family, pid = up.family(), up.children()[role]
        os.kill(pid, signal.SIGSTOP)
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(STOP_S) == 0
        wait_for_the_end(family, within_s=STOP_S)
        assert re.search(rf'"child_killed".*"process": "{role}", "pid": {pid}', up.said())
        # It was killed before it could do that itself.
        assert not [path for path in up.data_dir.iterdir() if path.is_socket()]


def test_ctrl_c_during_the_start_is_an_orderly_end_too(tmp_path: Path) -> None:
    with starting(tmp_path) as up:
        up.wait_until(lambda: len(up.children()) == 3, "all children", within_s=START_S)
        family = up.family()
        os.killpg(up.process.pid, signal.SIGINT)
        assert up.process.wait(STOP_S) == 0
        wait_for_the_end(family, within_s=STOP_S)
        assert "Traceback" not in up.said()
        files = {path.name for path in up.data_dir.iterdir()}
        assert files <= KEPT, f"left behind: {files - KEPT}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_disk_that_fills_up_is_named_survived_and_recovered_from(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "disk", "2m") as disk,
        standing(disk, person=QUICK) as up,
    ):
        wait_until_reported(up, 0.0, "a report before")
        children = up.children()
        ballast = fill(disk)

        up.wait_until(
            lambda: "no space left" in up.api("/readyz").text, "/readyz says so", within_s=START_S
        )
        assert up.run("topology").code == 0
        assert up.api("/api/v1/topology").document["nodes"][0]["stale"] is False
        assert str(up.data_dir) in up.api("/readyz").text
        asked = up.run("profile", f"pid:{up.children()['brain']}")
        assert asked.code == ExitCode.NO_SPACE, asked.stderr
        assert str(up.data_dir) in asked.stderr
        assert not list(up.data_dir.rglob("*.new"))
        ballast.unlink()
        up.wait_until(lambda: up.ready("brain"), "ready again", within_s=START_S)
        wait_until_reported(up, time.time(), "a report after")
        up.wait_until(lambda: up.ready("observe"), "observe ready again", within_s=START_S)
        assert up.children() == children, "nobody died of it"
        assert "Traceback" not in up.said()
        assert up.said().count("database_recovered") == 1
