"""A pod gets no label for which its workload would let it go and make another one."""

from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.patches import apply_patch

from tests.controller.admission.test_webhook_handler import POD, Admission

OWNER = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "name": "web-1",
    "uid": "u",
    "controller": True,
}


def pod(**labels: str) -> Any:
    metadata = {
        "generateName": "web-1-",
        "labels": {"app": "web", "pod-template-hash": "1", **labels},
        "ownerReferences": [OWNER],
    }
    return {"metadata": metadata, "spec": POD["spec"]}


def policy(**texts: Any) -> Any:
    return {"mode": "Apply", "mutations": [{"labels": texts}]}


@pytest.mark.parametrize("way", ["set", "add"])
async def test_the_label_is_left_out_with_a_warning_and_counted(way: str) -> None:
    admission = Admission(team=policy(**{way: {"legacy": "no", "team": "a"}}))
    admission.world.unwanted = frozenset({"legacy"})
    answer = await admission.ask(pod(), name="")
    made = apply_patch(pod(), answer.operations)
    assert made["metadata"]["labels"] == pod(team="a")["metadata"]["labels"]
    [warning] = answer.warnings
    assert warning.startswith(
        "policy team: metadata.labels[legacy]: left alone: the selector of its"
    )
    [record] = admission.records.kept
    assert record["warnings"] == [warning]
    assert admission.meter.value(names.LABELS_LEFT, reason="unwanted") == 1


async def test_no_plan_from_before_the_selector_was_known_is_followed_any_more() -> None:
    admission = Admission(team=policy(add={"legacy": "no"}))
    for _ in range(3):
        assert (await admission.ask(pod(), name="")).operations
    admission.world.unwanted = frozenset({"legacy"})
    answer = await admission.ask(pod(), name="")
    assert not answer.operations
    assert answer.warnings
    admission.world.unwanted = frozenset()
    assert (await admission.ask(pod(), name="")).operations


async def test_a_placeholder_does_not_become_such_a_label() -> None:
    admission = Admission(team=policy(add={"nemu_label_key": "a"}))
    admission.world.tokens = KnownTokens({"nemu_label_key": "legacy"})
    admission.world.unwanted = frozenset({"legacy"})
    answer = await admission.ask(pod(), name="")
    assert "legacy" not in apply_patch(pod(), answer.operations)["metadata"]["labels"]
    assert any("wants pods without legacy" in each for each in answer.warnings)
    assert admission.meter.value(names.PLACEHOLDERS_UNRESOLVED, reason="kept") == 1
