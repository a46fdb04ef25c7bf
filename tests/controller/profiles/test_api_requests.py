import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.settings.observe import ObserveSettings
from nemutator_common.wire import ProfileTarget
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.cluster.packed_reports import pack
from nemutator_controller.profiles.api_requests import (
    InvalidProfileRequestError,
    LocatedTarget,
    TargetQuestion,
    check_bounds,
    decode,
    locate,
)
from nemutator_controller.profiles.records import KnownPod, PodRef

from tests.fakes.batches import busy_report, workload
from tests.fakes.profiles import NOW, POD, FixedPods


def node(name: str, *pods: str) -> ReportedNode:
    workloads = tuple(replace(workload(f"/pods/{uid}"), pod_uid=uid) for uid in pods)
    return ReportedNode.of(name, "e1", 1, NOW, replace(busy_report(), workloads=workloads))


def located(
    kind: str, value: str, of: str | None = None, *, nodes: int = 1, pods: FixedPods | None = None
) -> LocatedTarget:
    known = [node(f"n{number}", POD.uid) for number in range(1, nodes + 1)]
    return locate(TargetQuestion(kind, value, of), known, pods or FixedPods())


def test_a_question_has_its_defaults() -> None:
    asked = decode(b'{"target": {"kind": "pid", "value": "1"}}')
    assert (asked.seconds, asked.hz, asked.target.node) == (30, 99, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": 0.5}, {"seconds": 601}, {"seconds": -1}, {"seconds": "x"}, {"hz": 0},
        {"hz": 1000}, {"hz": 1.5}, {"target": {}}, {"target": 7}, {"target": None},
    ],
)  # fmt: skip
def test_a_question_out_of_bounds_is_refused_with_a_remedy(wrong: dict[str, Any]) -> None:
    body = {"target": {"kind": "pid", "value": "1"}} | wrong
    with pytest.raises(InvalidProfileRequestError) as refused:
        decode(json.dumps(body).encode())
    assert refused.value.remedy


def test_what_an_agent_may_be_set_to_take_is_not_refused_here_and_bounds_name_what_it_takes() -> (
    None
):
    agent = ObserveSettings(profile_seconds=600.0, profile_hz=999)
    check_bounds(seconds=agent.profile_seconds, hz=agent.profile_hz)
    usual = ObserveSettings()
    with pytest.raises(InvalidProfileRequestError, match=f"1 to {usual.profile_seconds:.0f}, or"):
        check_bounds(seconds=601, hz=99)
    with pytest.raises(InvalidProfileRequestError, match=f"1 to {usual.profile_hz}, or"):
        check_bounds(seconds=30, hz=1000)


@given(st.binary(max_size=200))
def test_garbage_is_refused_and_nothing_else_happens(body: bytes) -> None:
    with pytest.raises(InvalidProfileRequestError):
        decode(body)


def test_the_only_node_is_meant_when_none_is_named() -> None:
    assert located("pid", "123") == LocatedTarget("n1", ProfileTarget("pid", "123"), None)
    found = located("cgroup", "/system.slice/x.service", "n2", nodes=2)
    assert found == LocatedTarget("n2", ProfileTarget("cgroup", "/system.slice/x.service"), None)


def test_a_process_is_called_what_its_own_node_calls_it() -> None:
    known = busy_report().processes[-1]
    assert located("pid", str(known.pid)).program == known.command
    assert located("pid", str(known.pid + 1)).program == ""
    bare = replace(node("n2"), packed=pack(replace(busy_report(), processes=())))
    other = locate(TargetQuestion("pid", str(known.pid), "n2"), [node("n1"), bare], FixedPods())
    assert other.program == ""


def test_a_pod_is_found_by_its_name_or_by_the_uid_that_reports_have() -> None:
    pods = FixedPods(KnownPod(POD, "n7"))
    for name in ("shop/cart-1", POD.uid):
        assert located("pod", name, pods=pods) == LocatedTarget(
            "n7", ProfileTarget("pod", POD.uid), POD
        )
    found = located("pod", POD.uid, nodes=2)
    assert (found.node, found.pod) == ("n1", PodRef("", "", POD.uid))


@pytest.mark.parametrize(
    ("kind", "value", "of", "nodes", "status"),
    [
        ("pid", "0", None, 1, 400),
        ("pid", "-1", None, 1, 400),
        ("pid", "12345678", None, 1, 400),
        ("pid", "\u0661", None, 1, 400),
        ("cgroup", "system.slice", None, 1, 400),
        ("cgroup", "/a/../b", None, 1, 400),
        ("cgroup", "/a\n", None, 1, 400),
        ("cgroup", "/" + "a" * 5000, None, 1, 400),
        ("host", "x", None, 1, 400),
        ("pid", "1", None, 0, 409),
        ("pid", "1", None, 2, 409),
        ("pid", "1", "n9", 2, 404),
        ("pod", "shop/none", None, 1, 404),
        ("pod", "0" * 32, None, 1, 404),
    ],
)
def test_what_cannot_be_located_is_refused_with_a_remedy(
    kind: str, value: str, of: str | None, nodes: int, status: int
) -> None:
    with pytest.raises(InvalidProfileRequestError) as refused:
        located(kind, value, of, nodes=nodes)
    assert refused.value.status == status
    assert refused.value.remedy


def test_a_pod_without_a_node_can_be_asked_for_later() -> None:
    with pytest.raises(InvalidProfileRequestError) as refused:
        located("pod", "shop/cart-1", pods=FixedPods(KnownPod(POD, "")))
    assert refused.value.status == 409


def test_a_heap_is_read_once_whatever_seconds_are_sent() -> None:
    body = {"target": {"kind": "pid", "value": "1"}, "measure": "heap", "seconds": 1e9, "hz": -1}
    asked = decode(json.dumps(body).encode())
    assert (asked.measure, asked.seconds, asked.hz) == ("heap", 0.0, 0)
    with pytest.raises(InvalidProfileRequestError):
        decode(json.dumps(body | {"measure": "threads"}).encode())


def test_time_off_the_cpu_has_seconds_and_no_rate() -> None:
    body = {"target": {"kind": "pid", "value": "1"}, "measure": "off-cpu", "seconds": 9, "hz": -1}
    asked = decode(json.dumps(body).encode())
    assert (asked.measure, asked.seconds, asked.hz) == ("off-cpu", 9.0, 0)
    with pytest.raises(InvalidProfileRequestError, match="seconds"):
        decode(json.dumps(body | {"seconds": 0.5}).encode())


def test_threads_are_those_of_cpu_time() -> None:
    body = {"target": {"kind": "pid", "value": "1"}, "threads": True}
    assert decode(json.dumps(body).encode()).threads
    for measure in ("heap", "off-cpu"):
        with pytest.raises(InvalidProfileRequestError, match="threads: there are none"):
            decode(json.dumps(body | {"measure": measure}).encode())
