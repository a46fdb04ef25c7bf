import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.group_names import is_sized
from nemutator_agent.usage.snapshot import GroupCounters, Waits
from nemutator_agent.usage.summaries import Summaries
from nemutator_common.wire import Pressure, Pressures, Summary
from nemutator_common.wire_activity import Activity, NetworkRates

from tests.fakes.snapshots import group, process, snapshot

UNIT = "/system.slice/ssh.service"
POD = "0f0e0d0c-0000-4000-8000-000000000001"
CONTAINER = "a" * 64
HZ = 100


def test_where_nothing_counts_a_program_is_what_is_summed_up() -> None:
    summing, shop = Summaries(every_s=15.0), ProcessId(7, 0)

    def add(at: float, cpu_ticks: int) -> tuple[Summary, ...]:
        processes = {shop: process("/vm", cpu_ticks=cpu_ticks, command=b"sh\nop")}
        seen = snapshot(at, groups={"/vm": used(None)}, processes=processes)
        return summing.add(seen, ticks_per_s=HZ)

    assert add(0.0, 5000) == ()
    [summary] = add(15.0, 5750)
    assert (summary.path, summary.program) == ("/vm", r"sh\nop")
    assert (summary.cpu_cores, summary.memory_bytes) == (0.5, 4096)


def used(cpu_us: int | None, memory_bytes: int | None = 1000, *, inode: int = 7) -> GroupCounters:
    return GroupCounters(inode, cpu_us, memory_bytes, Pressures())


def summaries(*looks: tuple[float, GroupCounters | None]) -> list[Summary]:
    """What becomes of one unit that is seen, or not, at these moments."""
    summing = Summaries(every_s=15.0)
    return [
        one
        for at, counters in looks
        for one in summing.add(
            snapshot(at, groups={} if counters is None else {UNIT: counters}), ticks_per_s=HZ
        )
    ]


def test_a_summary_is_the_mean_of_the_counter_and_the_most_memory() -> None:
    given_looks = [(0.0, used(0, 10)), (6.0, used(9_000_000, 90)), (15.0, used(15_000_000, 20))]
    [summary] = summaries(*given_looks)
    assert summary == Summary(
        path=UNIT,
        pod_uid=None,
        container_id=None,
        from_at=snapshot(0).at,
        to_at=snapshot(15).at,
        cpu_cores=1.0,
        memory_bytes=90,
    )


def test_the_memory_at_the_border_belongs_to_both_sides() -> None:
    snapshots = [(0.0, used(0)), (15.0, used(0, 5000)), (30.0, used(0))]
    assert [one.memory_bytes for one in summaries(*snapshots)] == [5000, 5000]


@pytest.mark.parametrize(("lived_s", "counted"), [(6.0, 0), (7.5, 1), (14.0, 1)])
def test_the_last_part_of_a_life_counts_when_it_is_long_enough(
    lived_s: float, counted: int
) -> None:
    assert len(summaries((0.0, used(0)), (lived_s, used(10)), (20.0, None))) == counted


def test_another_group_under_the_same_path_begins_anew() -> None:
    snapshots = [
        (0.0, used(50, inode=1)),
        (9.0, used(9_000_050, inode=1)),
        (12.0, used(3, inode=2)),
    ]
    [summary] = summaries(*snapshots)
    assert summary.cpu_cores == 1.0
    assert summary.to_at == snapshot(9).at


def test_a_counter_that_ran_backwards_is_another_life_too() -> None:
    snapshots = [(0.0, used(1000)), (3.0, used(10)), (18.0, used(15_000_010))]
    assert [one.cpu_cores for one in summaries(*snapshots)] == [1.0]


def test_without_memory_or_cpu_there_is_no_half_summary() -> None:
    assert summaries((0.0, used(0, None)), (15.0, used(9, None))) == []
    assert summaries((0.0, used(None)), (15.0, used(None))) == []


def test_a_pod_and_its_container_are_named() -> None:
    path = f"/kubepods/burstable/pod{POD}/{CONTAINER}"
    summing = Summaries(every_s=1.0)
    summing.add(snapshot(0, groups={path: group(0)}), ticks_per_s=HZ)
    [summary] = summing.add(snapshot(1, groups={path: group(9)}), ticks_per_s=HZ)
    assert (summary.pod_uid, summary.container_id) == (POD, CONTAINER)


@pytest.mark.parametrize(
    ("path", "sized"),
    [
        ("/system.slice", False),
        (UNIT, True),
        (f"/kubepods/pod{POD}", False),
        (f"/kubepods/pod{POD}/{CONTAINER}", True),
        (f"/kubepods/pod{POD}/{CONTAINER}/inner", False),
        (f"/kubepods/pod{POD}/{CONTAINER}/system.slice/a.service", False),
        ("/anything", True),
    ],
)
def test_only_what_people_give_resources_to_is_summed(path: str, sized: bool) -> None:
    assert is_sized(path) is sized


steps = st.lists(
    st.tuples(st.floats(0.5, 20.0), st.integers(0, 30_000_000)), min_size=1, max_size=40
)


@given(steps)
def test_no_cpu_time_is_lost_or_counted_twice(steps: list[tuple[float, int]]) -> None:
    summing = Summaries(every_s=15.0)
    at, total, moments = 0.0, 0, [(0.0, 0)]
    found = list(summing.add(snapshot(at, groups={UNIT: used(total)}), ticks_per_s=HZ))
    for step_s, more in steps:
        at, total = at + step_s, total + more
        moments.append((at, total))
        found += summing.add(snapshot(at, groups={UNIT: used(total)}), ticks_per_s=HZ)
    spans = [one.to_at - one.from_at for one in found]
    assert all(span >= 15.0 - 1e-6 for span in spans)
    for before, after in itertools.pairwise(found):
        assert after.from_at == pytest.approx(before.to_at)
    ended = found[-1].to_at - snapshot(0).at if found else 0.0
    expected = max(used_us for moment, used_us in moments if moment <= ended + 1e-6)
    summed = sum(one.cpu_cores * span for one, span in zip(found, spans, strict=True))
    assert summed * 1e6 == pytest.approx(expected, rel=1e-6, abs=1000)


def test_what_else_a_container_did_is_told_with_its_pods_network() -> None:
    pod = f"/kubepods/pod{POD}"
    path = f"{pod}/{CONTAINER}"
    summing = Summaries(every_s=15.0)

    def add(at: float, activity: Activity) -> tuple[Summary, ...]:
        traffic = Activity(traffic=NetworkRates(received=5.0, sent=6.0))
        seen = snapshot(at, groups={path: used(0)}, activities={path: activity, pod: traffic})
        return summing.add(seen, ticks_per_s=HZ)

    add(0.0, Activity(oom_kills=2))
    [one] = add(15.0, Activity(oom_kills=3, throttled=0.5, disk_read=1.0, disk_written=2.0))
    assert (one.throttled, one.oom_kills, one.disk_read, one.disk_written) == (0.5, 1, 1.0, 2.0)
    assert (one.network_received, one.network_sent) == (5.0, 6.0)
    [one] = add(30.0, Activity(oom_kills=3))
    assert (one.throttled, one.oom_kills) == (None, 0)


def test_a_wait_is_what_was_counted_and_before_that_the_kernels_mean() -> None:
    pressures = Pressures(cpu=Pressure(90.0, 40.0, None, None))
    looks = [None, None, Waits(10.0, None, 5.0)]
    counters = [used(0)._replace(pressures=pressures, waits=waits) for waits in looks]
    first, second = summaries(*((15.0 * number, one) for number, one in enumerate(counters)))
    assert (first.cpu_waiting, first.disk_waiting) == (40.0, None)
    assert (second.cpu_waiting, second.disk_waiting) == (10.0, 5.0)


@pytest.mark.parametrize(
    ("waits", "disk_read", "waiting"),
    [
        # Half of what it read it had had in memory.
        (Waits(0.0, 1.0, 40.0, refaulted=5e6), 1e7, 20.0),
        # Read ahead of what was asked for, and more than the disk was told to be.
        (Waits(0.0, None, 40.0, refaulted=9e6), 1e6, 40.0),
        # PSI says more.
        (Waits(0.0, 30.0, 40.0, refaulted=5e6), 1e7, 30.0),
        # All of it is new, or nothing is known.
        (Waits(0.0, 1.0, 40.0, refaulted=0.0), 1e7, 1.0),
        (Waits(0.0, None, 40.0, refaulted=5e6), None, None),
        (Waits(0.0, 1.0, None, refaulted=5e6), 1e7, 1.0),
    ],
)
def test_who_reads_again_what_it_had_waits_for_memory(
    waits: Waits, disk_read: float | None, waiting: float | None
) -> None:
    summing = Summaries(every_s=15.0)
    activities = {UNIT: Activity(disk_read=disk_read)}
    groups = {UNIT: used(0)._replace(waits=waits)}
    [one] = [
        summary
        for at in (0.0, 15.0)
        for summary in summing.add(
            snapshot(at, groups=groups, activities=activities), ticks_per_s=HZ
        )
    ]
    assert (one.memory_waiting, one.disk_waiting) == (waiting, waits.io)


def test_no_kill_is_lost_or_counted_twice_between_two_summaries() -> None:
    summing = Summaries(every_s=15.0)
    kills = [0, 0, 1, 1, 2, 5, 5, 5, 6]
    found = [
        one.oom_kills
        for at, number in enumerate(kills)
        for one in summing.add(
            snapshot(
                7.5 * at, groups={UNIT: used(0)}, activities={UNIT: Activity(oom_kills=number)}
            ),
            ticks_per_s=HZ,
        )
    ]
    assert sum(number for number in found if number is not None) == 6
