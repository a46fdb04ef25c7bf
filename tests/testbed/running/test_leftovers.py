"""What a killed run leaves is found and cleaned, and nobody else's things are touched."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processes import alive
from tests.testbed.running import leftovers
from tests.testbed.running.leftovers import MARK, bridge_of, cgroup_of, mounts_below
from tests.testbed.running.run import running
from tests.testbed.running.waiting import until

REPOSITORY = Path(__file__).parents[3]

# A run with a daemon, and a process that has left its family: as a container's shim does.
ABANDONED = """
import subprocess, sys, time
from tests.testbed.running.run import running

with running() as run:
    daemon = run.started("sleeper", ["sleep", "600"])
    escaped = ["setsid", "--fork", "sleep", "601"]
    subprocess.run(escaped, env={"PATH": "/usr/bin:/bin", **run.mark}, check=True)
    print(run.directory, daemon.pid, flush=True)
    time.sleep(600)
"""


def line(target: str) -> str:
    return f"36 35 98:0 / {target} rw,noatime shared:1 - ext4 /dev/root rw"


@pytest.fixture(autouse=True)
def runs_apart(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests beside this one begin runs, too, and would clean the dead one that it looks at."""
    monkeypatch.setenv(leftovers.RUNS, str(tmp_path_factory.mktemp("runs")))


@pytest.fixture
def somebodys() -> Iterator[tuple["subprocess.Popen[str]", Path, int]]:
    """Another process with a run of its own: its directory and its daemon."""
    command = [sys.executable, "-c", ABANDONED]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as owner:
        try:
            assert owner.stdout
            directory, pid = owner.stdout.readline().split()
            assert Path(directory) in leftovers.live_runs()
            yield owner, Path(directory), int(pid)
        finally:
            owner.kill()
    leftovers.clean(Path(directory))


@pytest.fixture
def abandoned(somebodys: tuple["subprocess.Popen[str]", Path, int]) -> tuple[Path, int]:
    """A run that was killed as hard as possible."""
    owner, directory, daemon = somebodys
    owner.kill()
    owner.wait()
    return directory, daemon


def test_a_daemon_dies_with_the_process_that_started_it(abandoned: tuple[Path, int]) -> None:
    _, daemon = abandoned
    until(lambda: not alive([daemon]), "the daemon has ended", within_s=60)


def test_the_next_run_cleans_what_a_killed_one_has_left(abandoned: tuple[Path, int]) -> None:
    directory, daemon = abandoned
    assert directory in leftovers.dead_runs()
    until(lambda: not alive([daemon]), "the daemon has ended", within_s=60)
    (escaped,) = leftovers.marked(directory)
    with running() as run:
        assert run.directory != directory
        assert not directory.exists()
        until(lambda: not alive([escaped]), "what escaped has ended", within_s=60)


def test_a_run_can_be_ended_from_elsewhere(
    somebodys: tuple["subprocess.Popen[str]", Path, int],
) -> None:
    owner, directory, daemon = somebodys
    leftovers.end(directory)
    assert owner.wait(60) == -signal.SIGTERM
    assert not directory.exists()
    assert not alive([daemon])


def test_a_run_that_goes_on_is_left_alone() -> None:
    with running() as one, running() as other:
        assert one.directory.is_dir()
        assert {one.directory, other.directory} <= set(leftovers.live_runs())
    assert not one.directory.exists()
    assert not other.directory.exists()


def test_cleaning_twice_is_cleaning_once(tmp_path: Path) -> None:
    directory = tmp_path / "abc123"
    (directory / "logs").mkdir(parents=True)
    leftovers.clean(directory)
    leftovers.clean(directory)
    assert not directory.exists()


def test_a_process_of_another_run_is_not_found(tmp_path: Path) -> None:
    other = {MARK: f"{tmp_path}/abc1234", "PATH": os.defpath}
    with subprocess.Popen(["sleep", "600"], env=other) as process:
        try:
            # A program that has only just been started shows no environment yet.
            until(lambda: [*leftovers.marked(tmp_path / "abc1234")], "its own", within_s=60)
            assert list(leftovers.marked(tmp_path / "abc1234")) == [process.pid]
            assert list(leftovers.marked(tmp_path / "abc123")) == []
        finally:
            process.kill()


def test_a_process_that_hides_its_environment_is_known_by_where_it_works() -> None:
    with running() as run, subprocess.Popen(["sleep", "600"], cwd=run.logs, env={}) as process:
        try:
            assert process.pid in set(leftovers.marked(run.directory))
        finally:
            process.kill()


def test_mounts_are_found_by_whole_names_and_in_their_order() -> None:
    ours = ["/tmp/n/abc123", "/tmp/n/abc123/kubelet", "/tmp/n/abc123/kubelet/a"]
    others = ["/", "/tmp/n", "/tmp/n/abc1234", "/tmp/n/abc123x/y"]
    mountinfo = "\n".join(map(line, [*others[:2], *ours, *others[2:]]))
    assert list(mounts_below(Path("/tmp/n/abc123"), mountinfo)) == ours


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), min_size=1))
def test_a_mount_point_of_any_name_is_found(name: str) -> None:
    target = "/run/" + name.replace("/", "").replace(".", "") + "x"
    escaped = target.replace("\\", r"\134").replace(" ", r"\040")
    assert list(mounts_below(Path("/run"), line(escaped))) == [target]


def test_names_of_a_run_are_its_own_and_fit() -> None:
    assert len(bridge_of("abc123")) <= 15
    assert bridge_of("abc123") != bridge_of("abc124")
    assert cgroup_of("abc123") != cgroup_of("abc124")
