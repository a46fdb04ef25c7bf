"""Stacks and names on arm64: programs of Go by their own tables, and a leaf's caller in a register."""

import shlex
import shutil
from pathlib import Path

import pytest

from tests.e2e import go_frames, test_heap_profiles
from tests.e2e.machine import on_any_kernel
from tests.testbed.parts.machine.machine import Machine

pytestmark = pytest.mark.timeout(3600)

FRAMES, HEAPS = "/run/frames", "/run/heaps"
BUILDS = tuple(kind for kind in go_frames.BUILDS if not go_frames.by_gcc(kind))
"""Those that need no compiler for that processor."""

ELSEWHERE = (
    "ordinary",  # needs a Python that another user may start
    "stacks_are_those",  # a leaf of gcc's has no frame there, and its caller is not seen
    "does_not_fit",  # a full map is refused by another error, and counted as a busy one
    # An emulated timer is late: too few samples for these.
    "a_group_is_sampled",
    "before_it_called_exec",
)
"""Parts of the names of tests that do not run there."""


def built(guest: Machine, scratch: Path, folder: str, kinds: tuple[str, ...], source: Path) -> None:
    """Have the programs of *source* in a folder of the guest, which has no Go."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("no Go on this machine: apt-get install golang")
    guest.run("mkdir", folder)
    for kind in kinds:
        made = scratch / "made"
        go_frames.build(go, kind, made, architecture=guest.architecture, source=source)
        path = shlex.quote(f"{folder}/{kind}")
        guest.sh(f"cat > {path} && chmod 755 {path}", given=made.read_bytes())


def test_programs_of_go_are_named_as_they_name_themselves(guest: Machine, tmp_path: Path) -> None:
    built(guest, tmp_path, FRAMES, BUILDS, go_frames.SOURCE)
    on_any_kernel.passes(guest, "tests/e2e/test_symbols.py --noconftest -m ''", BUILT_FRAMES=FRAMES)


def test_heaps_and_counts_are_those_that_programs_tell_of_themselves(
    guest: Machine, tmp_path: Path
) -> None:
    built(guest, tmp_path, HEAPS, test_heap_profiles.BUILDS, test_heap_profiles.SOURCE)
    chosen = "-k 'every_site or runtimes_counts'"
    tests = "tests/e2e/test_heap_profiles.py --noconftest -m e2e"
    on_any_kernel.passes(guest, tests, chosen, BUILT_HEAPS=HEAPS)


def test_stacks_of_processes_and_groups_are_theirs(guest: Machine) -> None:
    chosen = f"-k 'not ({' or '.join(ELSEWHERE)})'"
    tests = "tests/e2e/test_profiler.py tests/e2e/test_profile_targets.py"
    on_any_kernel.passes(guest, tests, "--noconftest", "-m e2e", chosen)
