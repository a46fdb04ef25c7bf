"""A pod is shown again when another webhook has changed it: what is on record then is all of it."""

import copy
from typing import Any

import msgspec
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
