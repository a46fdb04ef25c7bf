"""Stacks and names on arm64: Go's own frames, a return address that is in a register, signed ones."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import go_frames
from tests.e2e.machine import on_any_kernel
from tests.testbed.fixtures import StartMachine
from tests.testbed.parts.machine.machine import Machine

pytestmark = pytest.mark.timeout(3600)

FRAMES = "/run/frames"


@pytest.fixture(scope="module")
def guest(machine: StartMachine) -> Iterator[Machine]:
    with machine(kernel="6.1", arch="arm64") as guest:
        yield guest


def test_programs_of_go_are_named_as_they_name_themselves(guest: Machine, tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("no Go on this machine: apt-get install golang")
    guest.run("mkdir", FRAMES)
    for kind in go_frames.BUILDS:
        if not go_frames.by_gcc(kind):
            go_frames.build(go, kind, tmp_path / "frames", architecture=guest.architecture)
            content = (tmp_path / "frames").read_bytes()
            guest.sh(f"cat > '{FRAMES}/{kind}' && chmod 755 '{FRAMES}/{kind}'", given=content)
    on_any_kernel.passes(guest, "tests/e2e/test_symbols.py --noconftest -m ''", BUILT_FRAMES=FRAMES)


def test_stacks_of_processes_and_groups_are_theirs(guest: Machine) -> None:
    on_any_kernel.passes(
        guest, "tests/e2e/test_profiler.py", "--noconftest", "-m e2e", "-k 'not ordinary'"
    )
