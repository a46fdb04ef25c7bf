import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.detected_runtime import DetectedRuntime
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.gaps import Gaps
from nemutator_agent.usage.network_files import InterfaceCounters
from nemutator_agent.usage.reports import (
    LONGEST_COMMAND,
    LONGEST_NAME,
    LONGEST_PATH,
    rate,
    report_of,
)
from nemutator_agent.usage.snapshot import (
    InterfaceLink,
    IoCounters,
    MachineDevices,
    MachineSnapshot,
)
from nemutator_common.wire import Report, Throughput
from nemutator_common.wire_activity import Activity

from tests.fakes.snapshots import FACTS, group, process, snapshot

counters = st.one_of(st.none(), st.integers(0, 2**63))
seconds = st.floats(0.001, 1e6)


def folded(before: MachineSnapshot | None, after: MachineSnapshot) -> Report:
    return report_of(before, after, facts=FACTS, runtimes={})


@given(counters, counters, st.floats(-10, 1e6))
def test_a_rate_is_never_negative(before: int | None, after: int | None, elapsed_s: float) -> None:
    found = rate(before, after, elapsed_s)
    assert found is None or found >= 0


@given(st.lists(st.tuples(st.integers(0, 2**40), seconds), min_size=1))
def test_nothing_is_lost_between_looks(steps: list[tuple[int, float]]) -> None:
    total = sum(more for more, _ in steps)
    counter, used = 0, 0.0
    for more, elapsed_s in steps:
        found = rate(counter, counter + more, elapsed_s)
        assert found is not None
        counter += more
        used += found * elapsed_s
    assert math.isclose(used, total, rel_tol=1e-9, abs_tol=1e-6)


def test_the_first_look_has_no_rates() -> None:
    report = folded(None, snapshot(1.0, processes={ProcessId(7, 0): process("/a")}))
    assert report.machine.cpu_cores is None
    assert [workload.cpu_cores for workload in report.workloads] == [None, None]
    assert report.processes[0].cpu_cores is None


def test_what_moved_is_bytes_a_second_where_both_looks_know_it() -> None:
    report = folded(
        snapshot(10.0, io=IoCounters(disk_read_bytes=1000, disk_written_bytes=7)),
        snapshot(
            14.0,
            io=IoCounters(disk_read_bytes=9000, disk_written_bytes=6, network_sent_bytes=5),
        ),
    )
    # A counter that fell belongs to another device: one was taken out.
    assert report.machine.throughput == Throughput(disk_read=2000.0)


def test_counters_become_cores() -> None:
    seven = ProcessId(7, 50)
    report = folded(
        snapshot(
            10.0,
            busy_ticks=100,
            groups={"/a": group(1_000_000)},
            processes={seven: process("/a", cpu_ticks=10)},
        ),
        snapshot(
            12.0,
            busy_ticks=400,
            groups={"/a": group(2_000_000)},
            processes={seven: process("/a", cpu_ticks=110)},
        ),
    )
    assert report.machine.cpu_cores == 1.5
    assert report.machine.memory_used_bytes == 600
    root, workload = report.workloads
    assert (root.path, root.kind, root.cpu_cores, root.memory_bytes) == ("/", "root", 1.5, 600)
    assert (workload.cpu_cores, workload.processes) == (0.5, 1)
    assert report.processes[0].cpu_cores == 0.5
    assert report.processes[0].started_at == FACTS.booted_at + 0.5


def test_a_group_that_nobody_counts_uses_what_is_known_in_it() -> None:
    """As on control groups of version 1, where the CPU time of most groups is nobody's to count."""
    seven, eight, nine = ProcessId(7, 0), ProcessId(8, 0), ProcessId(9, 0)

    def seen(at: float, ticks: int, *, young: bool) -> MachineSnapshot:
        processes = {
            seven: process("/a", cpu_ticks=ticks),
            eight: process("/a/b", cpu_ticks=2 * ticks),
        } | ({nine: process("/a/new")} if young else {})
        groups = {"/a": group(None), "/a/b": group(ticks * 30_000), "/a/new": group(None)}
        return snapshot(at, groups=groups, processes=processes)

    report = folded(seen(10.0, 100, young=False), seen(11.0, 200, young=True))
    assert {one.path: (one.cpu_cores, one.cpu_is_summed) for one in report.workloads} == {
        "/": (0.0, False),
        "/a": (4.0, True),
        "/a/b": (3.0, False),
        "/a/new": (None, False),
    }


def test_a_script_is_told_clean_and_bounded() -> None:
    seven = ProcessId(7, 0)
    found = {seven: DetectedRuntime("python", None, "\x1b[2J" * 99)}
    seen = snapshot(1.0, processes={seven: process()})
    script = report_of(None, seen, facts=FACTS, runtimes=found).processes[0].script
    assert script is not None
    assert script.isprintable()
    assert len(script) <= LONGEST_NAME


def test_a_group_made_anew_under_its_old_path_has_no_rate() -> None:
    seven = {ProcessId(7, 0): process("/a")}
    before = snapshot(1.0, groups={"/a": group(5, inode=1)}, processes=seven)
    after = snapshot(2.0, groups={"/a": group(9, inode=2)}, processes=seven)
    assert folded(before, after).workloads[1].cpu_cores is None


def test_a_process_that_got_an_old_number_has_no_rate() -> None:
    before = snapshot(1.0, processes={ProcessId(7, 0): process(cpu_ticks=5)})
    after = snapshot(2.0, processes={ProcessId(7, 99): process(cpu_ticks=9)})
    assert folded(before, after).processes[0].cpu_cores is None


def test_a_clock_that_stands_still_gives_no_rate() -> None:
    seven = {ProcessId(7, 0): process()}
    assert (
        folded(snapshot(1.0, processes=seven), snapshot(1.0, processes=seven)).machine.cpu_cores
        is None
    )


def test_groups_above_a_process_are_shown_and_empty_ones_are_not() -> None:
    seen = snapshot(1.0, groups={"/z": group(1)}, processes={ProcessId(7, 0): process("/a/b")})
    report = folded(None, seen)
    assert [(w.path, w.processes) for w in report.workloads] == [("/", 0), ("/a", 0), ("/a/b", 1)]


def test_what_an_inspection_found_is_told() -> None:
    seven = ProcessId(7, 0)
    found = {seven: DetectedRuntime("go", "go1.26.8")}
    seen = snapshot(1.0, processes={seven: process()})
    told = report_of(None, seen, facts=FACTS, runtimes=found).processes[0]
    assert (told.runtime, told.runtime_version) == ("go", "go1.26.8")


def test_denied_executables_are_named() -> None:
    report = report_of(None, snapshot(1.0, gaps=Gaps()), facts=FACTS, runtimes={}, denied=3)
    assert any("3 processes" in missing.what for missing in report.missing)


@pytest.mark.parametrize("hostile", ["/a\x07", "/a\\x07", "/" + "x" * 5000, "/'\"<b>", "/\udcff"])
def test_hostile_names_are_clean_and_bounded(hostile: str) -> None:
    seen = snapshot(1.0, processes={ProcessId(7, 0): process(hostile, command=b"\x1b[2J" * 99)})
    report = folded(None, seen)
    for text in (report.workloads[1].path, report.workloads[1].name, report.processes[0].command):
        assert text.isprintable()
    assert len(report.workloads[1].path) <= LONGEST_PATH
    assert len(report.workloads[1].name) <= LONGEST_NAME
    assert len(report.processes[0].command) <= LONGEST_COMMAND


@given(st.sets(st.text(max_size=5).map(lambda name: "/" + name.replace("/", "")), max_size=8))
def test_no_two_groups_are_shown_alike(paths: set[str]) -> None:
    twins = paths | {"/a\x07", "/a\\x07", "/a\\x07~2"}
    seen = snapshot(
        1.0, processes={ProcessId(n, 0): process(path) for n, path in enumerate(sorted(twins))}
    )
    report = folded(None, seen)
    shown = [workload.path for workload in report.workloads]
    assert len(shown) == len(set(shown)) == len(twins | {"/"})
    assert {process.workload for process in report.processes} <= set(shown)


def test_what_groups_and_devices_do_is_in_the_report() -> None:
    def seen(at: float, received: int) -> MachineSnapshot:
        return snapshot(
            at,
            io=IoCounters(interfaces={"eth\n0": InterfaceCounters(received)}),
            processes={ProcessId(7, 0): process("/a")},
            activities={"/a": Activity(pids=3)},
            devices=MachineDevices(
                links={"eth\n0": InterfaceLink(True, 1000)}, pods_memory_bytes=5
            ),
        )

    report = folded(seen(10.0, 100), seen(20.0, 1100))
    [interface] = report.machine.interfaces
    assert (interface.name, interface.is_up, interface.megabits) == ("eth\\n0", True, 1000)
    assert interface.traffic.received == 100.0
    assert report.machine.pods_memory_bytes == 5
    assert report.machine.booted_at == FACTS.booted_at
    assert [one.activity for one in report.workloads] == [None, Activity(pids=3)]
