"""Leftovers are seen, and other people's doings are not taken for them."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.testbed.running import leftovers, machine_state
from tests.testbed.running.leftovers import MARK
from tests.testbed.running.machine_state import Process, strays_among
from tests.testbed.running.run import running

INIT = Process(1, 0, 1, "init")
SHELL = Process(10, 1, 50, "bash")
TESTS = Process(20, 10, 60, "pytest")
BEFORE = (INIT, SHELL, TESTS)


@pytest.mark.parametrize(
    ("new", "strays"),
    [
        ([], []),
        ([Process(30, 20, 70, "etcd")], [30]),
        ([Process(30, 20, 70, "sudo"), Process(31, 30, 71, "etcd")], [30, 31]),
        ([Process(30, 1, 70, "containerd-shim", of_a_run=True)], [30]),
        ([Process(30, 1, 70, "somebody's daemon"), Process(31, 30, 71, "its child")], []),
        ([Process(30, 10, 70, "vi"), Process(31, 30, 71, "sh")], []),
        ([Process(30, 999, 70, "its parent is gone")], []),
        ([Process(30, 999, 70, "its parent is gone", of_a_run=True)], [30]),
        ([Process(10, 1, 70, "a pid used again", of_a_run=True)], [10]),
    ],
)
def test_new_processes_of_ours_and_of_runs_are_strays(
    new: list[Process], strays: list[int]
) -> None:
    taken = {one.pid for one in new}
    now = [*(one for one in BEFORE if one.pid not in taken), *new]
    assert [one.pid for one in strays_among(now, BEFORE, me=TESTS.pid)] == strays


def test_a_tests_own_mount_is_not_a_runs() -> None:
    mountinfo = (
        "50 29 0:39 / /tmp/pytest-of-root/pytest-7/test_a_full_disk0/disk rw - tmpfs tmpfs rw\n"
        "51 29 0:40 / /tmp/nemutator-testbed-0/ffffff/node rw shared:1 - tmpfs tmpfs rw\n"
    )
    assert list(machine_state.mounts(mountinfo)) == [
        "/tmp/nemutator-testbed-0/ffffff/node of / on 0:40"
    ]


def test_the_interface_of_a_pod_belongs_to_whom_its_bridge_belongs(tmp_path: Path) -> None:
    bridge = tmp_path / leftovers.bridge_of("ffffff")
    for interface in (tmp_path / "lo", tmp_path / "veth1", tmp_path / "veth2", bridge):
        interface.mkdir()
    (tmp_path / "veth1" / "master").symlink_to(bridge)
    others = machine_state.Others(["ffffff"])
    found = machine_state.interfaces(tmp_path)
    assert {one for one in found if not others.own(one)} == {"lo", "veth2"}


def test_what_is_left_is_named() -> None:
    before = machine_state.look()
    with (
        subprocess.Popen(["sleep", "600"]) as process,
        tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="PostgreSQL.") as file,
    ):
        try:
            added = machine_state.look().added_since(before)
        finally:
            process.kill()
    assert f"file: {file.name}" in added
    assert f"process: {process.pid} sleep" in added


def test_a_process_may_have_a_name_of_any_bytes() -> None:
    script = r"open('/proc/self/comm', 'wb').write(b'\xff\xfe'); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            found = machine_state.look().processes
        finally:
            process.kill()
    assert [one.name for one in found if one.pid == process.pid] == ["\ufffd\ufffd"]


def test_what_another_run_has_is_its_own() -> None:
    before = machine_state.look()
    with running() as run:
        daemon = run.daemon("sleeper", ["sleep", "600"], ready=lambda: True, within_s=60)
        added = machine_state.look().added_since(before)
        assert [one for one in added if str(daemon.pid) in one] == []


def test_what_a_dead_run_has_left_is_seen_although_its_parent_is_another() -> None:
    before = machine_state.look()
    dead = leftovers.runs_directory() / "ffffff"
    with subprocess.Popen(
        ["sh", "-c", "sleep 600 & echo $!"],
        env={MARK: str(dead)},
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout
        left = int(parent.stdout.readline())
        parent.wait()
        try:
            added = machine_state.look().added_since(before)
            # By the name that it has until it becomes another program, or by that one's.
            assert [one for one in added if one.startswith(f"process: {left} ")]
        finally:
            os.kill(left, signal.SIGKILL)
