"""Whom a profile is of: processes, groups, and those that are not there."""

import asyncio
import os
import re
from pathlib import Path

import pytest
from nemutator_agent.app.known_groups import KnownGroups
from nemutator_agent.profiler import perf_events
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.machine_targets import MachineTargets
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps
from nemutator_common.names import AS_ROOT
from nemutator_common.wire import ProfileTarget

from tests.contract.profiler.busy import AGREES, WITHOUT_ITS_FIRST_THREAD, busy, until_used
from tests.e2e.control_groups import group_of, mounted, move
from tests.e2e.sampled import HZ, sampled
from tests.e2e.standing import Person
from tests.processes import cpu_seconds
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.e2e


@pytest.fixture
def targets() -> MachineTargets:
    return MachineTargets(KnownGroups())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes control groups")
@pytest.mark.parametrize(("kind", "mount"), mounted())
async def test_a_group_is_sampled_with_all_below_it_and_nobody_else(
    targets: MachineTargets, kind: str, mount: str
) -> None:
    with (
        busy() as inside,
        busy() as deeper,
        busy() as outside,
        group_of(mount, ("", inside), ("deeper", deeper)) as path,
    ):
        resolved = await targets.resolve(ProfileTarget("cgroup", path))
        assert resolved.selection.by == ("group" if kind == "v2" else "v1_group")
        assert resolved.selection.controller == ("" if kind == "v2" else kind)
        assert set(resolved.processes) == {inside, deeper}
        before = cpu_seconds(inside) + cpu_seconds(deeper)
        found = await sampled(resolved, pid=deeper, seconds=1.5)
        used = cpu_seconds(inside) + cpu_seconds(deeper) - before
        assert cpu_seconds(outside) > 0
    assert found.samples.lost == {}
    assert {row.tgid for row in found.samples.rows} == {inside, deeper}
    assert abs(found.samples.recorded / HZ / used - 1) < AGREES
    # Memory and process counters know nothing of CPU time.
    assert (found.cpu_seconds is None) == (kind in ("memory", "pids"))
    if found.cpu_seconds is not None:
        assert abs(found.ratio - 1) < AGREES


async def test_what_comes_into_the_group_later_is_sampled_too(targets: MachineTargets) -> None:
    kind, mount = mounted()[0]
    with busy("import time; time.sleep(600)") as idle, group_of(mount, ("", idle)) as path:
        resolved = await targets.resolve(ProfileTarget("cgroup", path))
        sampling = await KernelSampler().start(resolved.selection, hz=HZ, texts={})
        with busy() as late:
            move(late, mount + path)
            await asyncio.to_thread(until_used, late, 0.5)
            samples = await sampling.stop()
    assert {row.tgid for row in samples.rows} == {late}, kind


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (ProfileTarget("pid", "2147483646"), "process 2147483646 is not running"),
        (ProfileTarget("pid", "../1"), "'../1' is not a process id"),
        (ProfileTarget("pid", "0"), "'0' is not a process id"),
        (ProfileTarget("cgroup", "/no/such/group"), "no control group '/no/such/group'"),
        (ProfileTarget("cgroup", "/../etc"), "no control group"),
        (ProfileTarget("pod", "0a1b2c3d-0000-0000-0000-000000000000"), "no process of pod"),
    ],
)
async def test_a_target_that_is_not_there_is_named(
    targets: MachineTargets, target: ProfileTarget, said: str
) -> None:
    with pytest.raises(ProfileRefused, match=re.escape(said)):
        await targets.resolve(target)


async def test_a_process_whose_first_thread_has_ended_is_sampled_and_named(
    targets: MachineTargets,
) -> None:
    with busy(WITHOUT_ITS_FIRST_THREAD) as pid:
        until(lambda: state_of(pid) == "Z", "the end of its first thread", within_s=60)
        resolved = await targets.resolve(ProfileTarget("pid", str(pid)))
        found = await sampled(resolved, pid=pid, seconds=0.5)
        mappings = await ProcMaps().mappings(pid)
        (code, *_) = mappings.of_executable()
        ProcMaps().close(await ProcMaps().open(pid, code))
    assert found.samples.recorded
    assert all(mappings.are_of(row.image) for row in found.samples.rows if row.image)
    assert any(mappings.at(pc) for row in found.samples.rows for pc in row.user)


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


async def test_a_process_that_has_ended_has_no_account(targets: MachineTargets) -> None:
    with busy() as pid:
        resolved = await targets.resolve(ProfileTarget("pid", str(pid)))
        assert resolved.cpu_seconds() is not None
    until(lambda: not Path(f"/proc/{pid}").exists(), "the end", within_s=60)
    assert resolved.cpu_seconds() is None
    with pytest.raises(ProfileRefused, match="is not running"):
        await targets.resolve(ProfileTarget("pid", str(pid)))


REFUSED = """
import asyncio
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.targets import TargetSelection
try:
    asyncio.run(KernelSampler().start(TargetSelection("process", 1), hz=99, texts={}))
except ProfileRefused as refusal:
    print(refusal.reason, refusal, sep=": ")
"""


def test_an_ordinary_user_is_told_which_rights_are_missing(ordinary: Person) -> None:
    python = ordinary.command[0]
    ran = Person((python, "-c"), ordinary.uid, ordinary.environment).run(REFUSED)
    assert ran.code == 0, ran.stderr
    assert ran.stdout.startswith(
        "rights: the agent may not load BPF programs: it lacks CAP_BPF and CAP_PERFMON"
    )
    assert AS_ROOT in ran.stdout


def test_a_rate_that_the_kernel_does_not_take_is_told_with_the_one_that_it_does() -> None:
    most = int(Path("/proc/sys/kernel/perf_event_max_sample_rate").read_text())
    with pytest.raises(ProfileRefused, match=f"at most {most} samples"):
        perf_events.open_clock(0, hz=most + 1)
