"""What goes over the wire for each kind of write, and what is tried again."""

import json

import pytest
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.failures import (
    ConflictError,
    DisruptionBudgetError,
    TooManyRequestsError,
    UnavailableError,
)
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.writing import OnlyIf, Writer

from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport

BUSY = TooManyRequestsError("patch pods", "429", retry_after_s=3)
SEEN = OnlyIf(uid="u1", resource_version="7")


def writer(*script: Said) -> tuple[Writer, ScriptedTransport, EagerClock]:
    clock, transport = EagerClock(), ScriptedTransport(*script)
    return Writer(transport, WriteBudget(clock), clock), transport, clock


async def test_conditions_of_a_json_patch_are_tests_in_front() -> None:
    it, transport, _ = writer(b"{}")
    change = {"op": "add", "path": "/metadata/labels/a", "value": "b"}
    await it.json_patch(PODS, "team", "web", [change], only_if=SEEN)
    assert json.loads(transport.calls[0].body) == [
        {"op": "test", "path": "/metadata/uid", "value": "u1"},
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        change,
    ]


async def test_conditions_of_a_merge_patch_are_metadata() -> None:
    it, transport, _ = writer(b"{}")
    patch = {"metadata": {"labels": {"a": None}}}
    await it.merge_patch(PODS, "team", "web", patch, only_if=SEEN, subresource="status")
    assert json.loads(transport.calls[0].body) == {
        "metadata": {"labels": {"a": None}, "uid": "u1", "resourceVersion": "7"}
    }
    assert transport.calls[0].path.endswith("/web/status")


async def test_apply_says_kind_name_and_owner() -> None:
    it, transport, _ = writer(b"{}")
    await it.apply(PODS, "team", "web", {"spec": {"x": 1}}, force=True)
    call = transport.calls[0]
    assert call.content_type == "application/apply-patch+yaml"
    assert (call.query["fieldManager"], call.query["force"]) == ("nemutator", "true")
    assert json.loads(call.body) == {
        "apiVersion": "v1", "kind": "Pod", "spec": {"x": 1},
        "metadata": {"name": "web", "namespace": "team"},
    }  # fmt: skip


async def test_apply_with_a_version_alone_would_make_anew_what_is_gone() -> None:
    it, transport, _ = writer(b"{}")
    with pytest.raises(ValueError, match="needs the uid"):
        await it.apply(PODS, "team", "web", {}, only_if=OnlyIf(resource_version="7"))
    assert transport.calls == []


async def test_create_says_its_kind() -> None:
    it, transport, _ = writer(b"{}")
    await it.create(PODS, "team", {"metadata": {"name": "web"}})
    assert json.loads(transport.calls[0].body)["kind"] == "Pod"


async def test_an_eviction_carries_its_preconditions() -> None:
    it, transport, _ = writer(b"{}", b"{}")
    await it.evict("team", "web", only_if=SEEN)
    await it.evict("team", "web")
    bound, free = (json.loads(call.body) for call in transport.calls)
    assert bound["kind"] == "Eviction"
    assert bound["deleteOptions"]["preconditions"] == {"uid": "u1", "resourceVersion": "7"}
    assert "preconditions" not in free["deleteOptions"]


async def test_429_is_tried_again_when_it_is_over() -> None:
    it, transport, clock = writer(BUSY, BUSY, b"{}")
    await it.merge_patch(PODS, "team", "web", {})
    assert clock.slept == [3, 3]
    assert len(transport.calls) == 3


async def test_a_429_that_stays_is_told() -> None:
    it, transport, _ = writer(*[BUSY] * 9)
    with pytest.raises(TooManyRequestsError):
        await it.merge_patch(PODS, "team", "web", {})
    assert len(transport.calls) == 4


@pytest.mark.parametrize("error", [ConflictError, DisruptionBudgetError, UnavailableError])
async def test_what_may_have_happened_is_not_repeated(error: type[ConflictError]) -> None:
    it, transport, _ = writer(error("evict", "no"))
    with pytest.raises(error):
        await it.evict("team", "web")
    assert len(transport.calls) == 1
