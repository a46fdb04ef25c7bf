"""A pod is shown again when another webhook has changed it: what is on record then is all of it."""

import copy
from typing import Any

import msgspec
from nemutator_controller.admission.recent_stamps import KEPT_S
from nemutator_controller.journal.reversal_steps import backwards, steps_back
from nemutator_controller.mutations.decisions import Decision
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.patches import apply_patch

from tests.controller.admission.test_webhook_handler import POD, STAMP, TEAM, Admission

ENABLED: dict[str, Any] = {
    "metadata": {"labels": {"nemutator.io/inject": "enabled"}},
    "spec": POD["spec"],
}
SIDECAR = {"name": "proxy", "image": "proxy:1"}


async def test_taking_back_the_last_decision_takes_back_the_first_one_too() -> None:
    admission = Admission(team=TEAM)
    once = apply_patch(ENABLED, (await admission.ask(ENABLED)).operations)
    others = copy.deepcopy(once)
    others["spec"]["containers"].append(SIDECAR)
    twice = apply_patch(others, (await admission.ask(others)).operations)
    first, last = (msgspec.convert(each, Decision) for each in admission.records.kept)
    assert msgspec.json.decode(twice["metadata"]["annotations"][STAMP])["id"] == last.id
    paths = {edit.path for edit in last.edits}
    mount = "containers[name=proxy].volumeMounts[mountPath=/run/nemutator]"
    assert paths == {edit.path for edit in first.edits} | {mount}
    steps = steps_back([last], twice, "Pod", running=False)
    assert {step.verdict for step in steps} == {"reverse"}
    back = apply_edits(twice, map(backwards, steps), "Pod")
    del back["metadata"]["annotations"]
    assert back["spec"]["containers"] == [*ENABLED["spec"]["containers"], SIDECAR]
    assert back["metadata"] == ENABLED["metadata"]
    assert "initContainers" not in back["spec"]


HALF = {
    "mode": "Apply",
    "mutations": [{"resources": {"requests": {"cpu": {"ratio": 0.5}}}}],
}
BUSY: dict[str, Any] = {
    "metadata": {"generateName": "web-", "labels": {"app": "web"}},
    "spec": {
        "containers": [{"name": "app", "image": "a:1", "resources": {"requests": {"cpu": "100m"}}}]
    },
}


def cpu_of(pod: Any) -> str:
    return str(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])


def with_cpu(pod: Any, cpu: str) -> Any:
    changed = copy.deepcopy(pod)
    changed["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu
    return changed


def stripped(pod: Any) -> Any:
    """The pod after a webhook that does not know our annotation, and writes all of them."""
    changed = copy.deepcopy(pod)
    del changed["metadata"]["annotations"]
    return changed


async def asked(admission: Admission, pod: Any, **request: Any) -> Any:
    """The pod as the server stores it after our answer."""
    answer = await admission.ask(pod, **{"name": "", **request})
    return apply_patch(pod, answer.operations)


async def test_a_share_is_taken_once_when_another_webhook_strips_our_stamp() -> None:
    admission = Admission(half=HALF)
    once = await asked(admission, BUSY)
    twice = await asked(admission, stripped(once))
    assert (cpu_of(once), cpu_of(twice)) == ("50m", "50m")
    # It has its stamp again, and the record of that id is the one that was made.
    assert twice == once
    assert [record["id"] for record in admission.records.kept] == ["d0"]


async def test_a_stripped_stamp_comes_back_with_what_is_done_the_second_time() -> None:
    admission = Admission(half=HALF)
    once = stripped(await asked(admission, BUSY))
    busy = {"name": "proxy", "resources": {"requests": {"cpu": "10m"}}}
    once["spec"]["containers"].append(busy)
    twice = await asked(admission, once)
    assert cpu_of(twice) == "50m"
    first, last = admission.records.kept
    assert [edit["before"] for edit in last["edits"]] == [["100m"], ["10m"]]
    assert last["edits"][0] == first["edits"][0]


async def test_each_of_many_alike_pods_gets_a_stamp_of_its_own_back() -> None:
    admission = Admission(half=HALF)
    pods = [await asked(admission, BUSY) for _ in range(3)]
    again = [await asked(admission, stripped(pod)) for pod in pods]
    stamps = {pod["metadata"]["annotations"][STAMP] for pod in again}
    assert stamps == {pod["metadata"]["annotations"][STAMP] for pod in pods}


async def test_each_of_many_that_come_one_after_the_other_gets_its_own_back() -> None:
    admission = Admission(half=HALF)
    for number in range(4):
        once = await asked(admission, BUSY)
        twice = await asked(admission, stripped(once))
        assert msgspec.json.decode(twice["metadata"]["annotations"][STAMP])["id"] == f"d{number}"
        # The server may ask a third time.
        assert await asked(admission, stripped(twice)) == twice == once


async def test_another_pod_of_the_same_workload_is_not_taken_for_one_that_was_stripped() -> None:
    admission = Admission(half=HALF)
    await asked(admission, BUSY)
    assert cpu_of(await asked(admission, BUSY)) == "50m"
    # Its template asks for as much as we have made of the old one: the label tells them apart.
    newer = with_cpu(BUSY, "50m") | {"metadata": {"generateName": "web-", "labels": {"app": "w2"}}}
    assert cpu_of(await asked(admission, newer)) == "25m"
    assert cpu_of(await asked(admission, with_cpu(BUSY, "50m"), namespace="other")) == "25m"


async def test_what_a_dry_run_did_is_nothing_that_a_real_pod_has() -> None:
    admission = Admission(half=HALF)
    once = stripped(await asked(admission, BUSY, dryRun=True))
    assert cpu_of(await asked(admission, once, dryRun=True)) == "50m"
    assert cpu_of(await asked(admission, once)) == "25m"
    assert len(admission.records.kept) == 1


async def test_a_pod_that_comes_after_any_request_has_ended_is_another_one() -> None:
    admission = Admission(half=HALF)
    once = stripped(await asked(admission, BUSY))
    await admission.clock.advance(KEPT_S + 1)
    assert cpu_of(await asked(admission, once)) == "25m"


async def test_what_another_webhook_writes_over_ours_is_not_what_was_there_before() -> None:
    admission = Admission(half=HALF)
    once = await asked(admission, BUSY)
    twice = await asked(admission, with_cpu(once, "70m"))
    assert cpu_of(twice) == "35m"
    last = msgspec.convert(admission.records.kept[-1], Decision)
    assert [(edit.before, edit.after) for edit in last.edits] == [(("100m",), ("35m",))]
    steps = steps_back([last], twice, "Pod", running=False)
    assert cpu_of(apply_edits(twice, map(backwards, steps), "Pod")) == "100m"
