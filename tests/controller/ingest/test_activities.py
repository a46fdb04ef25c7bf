import math
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import Batch, Report, Summary
from nemutator_common.wire_activity import (
    Activity,
    FileSystem,
    Flow,
    NetworkInterface,
    NetworkRates,
    Temperature,
)
from nemutator_controller.ingest import activities
from nemutator_controller.ingest.batches import RefusedBatchError, check

from tests.fakes.batches import NOW, batch, busy_report

TRAFFIC = NetworkRates(
    received=1.0, sent=2.0, packets_received=3.0, packets_sent=4.0, drops=5.0, errors=6.0
)
ACTIVITY = Activity(
    throttled=0.5,
    throttled_s=0.25,
    oom_kills=7,
    pids=8,
    open_files=9,
    run_delay=10.0,
    run_delay_p99=33.0,
    disk_read=11.0,
    disk_written=12.0,
    traffic=TRAFFIC,
    starts=13,
    processes_started=14.0,
)
SUMMARY = Summary(
    path="/a",
    pod_uid=None,
    container_id=None,
    from_at=NOW - 15,
    to_at=NOW,
    cpu_cores=0.1,
    memory_bytes=1,
    throttled=0.75,
    oom_kills=15,
    network_received=16.0,
    network_sent=17.0,
    disk_read=18.0,
    disk_written=19.0,
    run_delay=34.0,
    run_delay_p99=35.0,
    cpu_waiting=36.0,
    memory_waiting=37.0,
    disk_waiting=38.0,
)
FLOW = Flow(
    pod_uid="u",
    address="10.0.0.1",
    port=20,
    protocol="tcp",
    direction="in",
    received=21,
    sent=22,
    connections=23,
    from_at=NOW - 24,
    to_at=NOW,
)


def full() -> Report:
    report = busy_report()
    machine = replace(
        report.machine,
        booted_at=25.0,
        pids=26,
        most_pids=27,
        pods_memory_bytes=28,
        most_pods_pids=29,
        file_systems=(
            FileSystem(path="/", device="/dev/vda", kind="ext4", total_bytes=30, used_bytes=31),
        ),
        interfaces=(NetworkInterface(name="eth0", traffic=TRAFFIC, is_up=True, megabits=32),),
        temperatures=(Temperature("cpu", -20.0),),
    )
    workloads = tuple(replace(one, activity=ACTIVITY) for one in report.workloads)
    return replace(
        report, machine=machine, workloads=workloads, summaries=(SUMMARY,), flows=(FLOW,)
    )


def checked(report: Report) -> None:
    one = batch()
    check(Batch("n1", "e1", (replace(one.envelopes[0], report=report),)), now=NOW)


def refusal(report: Report) -> str:
    with pytest.raises(RefusedBatchError) as refused:
        checked(report)
    return refused.value.reason


def test_all_that_an_agent_may_say_is_taken() -> None:
    checked(full())


def test_each_number_is_checked() -> None:
    told = {number for number in activities.numbers(full()) if number is not None}
    assert {*range(1, 24), *range(25, 39)} - told == set()
    assert told >= {0.5, 0.25, 0.75, NOW - 24}


@given(st.sampled_from([-1.0, math.nan, math.inf, 1e300]), st.sampled_from(fields(NetworkRates)))
def test_a_number_out_of_range_is_refused(number: float, which: object) -> None:
    traffic = replace(TRAFFIC, **{which.name: number})  # type: ignore[attr-defined]
    report = full()
    workloads = tuple(
        replace(one, activity=replace(ACTIVITY, traffic=traffic)) for one in report.workloads
    )
    assert refusal(replace(report, workloads=workloads)) == "number"


@pytest.mark.parametrize(
    "name", ["run_delay", "run_delay_p99", "cpu_waiting", "memory_waiting", "disk_waiting"]
)
def test_nothing_has_waited_for_less_than_no_time(name: str) -> None:
    summary = replace(SUMMARY, **{name: -1.0})  # type: ignore[arg-type]
    assert refusal(replace(full(), summaries=(summary,))) == "number"


@pytest.mark.parametrize(
    "flow", [replace(FLOW, port=65_536), replace(FLOW, from_at=NOW + 1), replace(FLOW, sent=-1)]
)
def test_a_flow_that_cannot_be_is_refused(flow: Flow) -> None:
    assert refusal(replace(full(), flows=(flow,))) == "number"


def test_more_than_all_periods_or_colder_than_can_be_is_refused() -> None:
    report = full()
    assert refusal(replace(report, summaries=(replace(SUMMARY, throttled=1.5),))) == "number"
    machine = replace(report.machine, temperatures=(Temperature("cpu", math.nan),))
    assert refusal(replace(report, machine=machine)) == "number"


def test_texts_are_clean_and_short() -> None:
    report = full()
    assert refusal(replace(report, flows=(replace(FLOW, address="1" * 65),))) == "bounds"
    assert refusal(replace(report, flows=(replace(FLOW, address="\x1b[2J"),))) == "text"
    machine = replace(report.machine, temperatures=(Temperature("\u202ecpu", 1.0),))
    assert refusal(replace(report, machine=machine)) == "text"


def test_too_many_are_refused() -> None:
    report = full()
    flows = (FLOW,) * (activities.MOST_FLOWS + 1)
    assert refusal(replace(report, flows=flows)) == "bounds"
