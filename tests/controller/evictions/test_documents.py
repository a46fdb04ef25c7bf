from typing import Any

import msgspec
import pytest
from nemutator_controller.evictions import documents
from nemutator_controller.evictions.documents import InvalidEvictionError, question
from nemutator_controller.evictions.plans import PodSelection, plan
from nemutator_controller.evictions.records import EvictionState, RequestedEviction

from tests.fakes.evictions import evictable, eviction_request


def body(**fields: Any) -> bytes:
    return msgspec.json.encode({"reason": "new kernel", **fields})


def test_pods_are_named_alone_or_in_their_namespace() -> None:
    asked = question(body(pods=["shop/web-1", "web-2"], namespace="shop"))
    assert asked.selection.pods == (("shop", "web-1"), ("shop", "web-2"))
    assert question(body(node="n1", selector="app=web")).selection == PodSelection(
        node="n1", selector="app=web"
    )
    assert question(documents.EXAMPLE.encode()).plan_only
    assert question(body(all=True)).all


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (b"", "truncated"),
        (b"[" * 100_000, "got `array`"),
        (b"\xff", "malformed"),
        (body(), "expected pods"),
        (body(pods=["web-1"]), "NAMESPACE/NAME"),
        (body(pods=["a/b/c"], namespace="bank"), "is not in namespace"),
        (body(pods=["shop/web-1"], namespace="bank"), "is not in namespace"),
        (body(pods=["shop/web-1"], node="n1"), "named pods"),
        (body(pods=["s/p"] * 1001), "more than"),
        (body(pods=["s/\n"]), "NAMESPACE/NAME"),
        (body(node="n" * 254), "expected a name"),
        (body(node="n1", reason="  "), "expected why"),
        (body(node="n1", reason="x" * 201), "characters"),
        (body(node="n1", reason="a\nb"), "characters"),
        (body(node="n1", withinS=1), "withinS"),
        (body(node="n1", nodes="n1"), "unknown field"),
    ],
)
def test_what_asks_for_nothing_that_can_be_done_is_explained(asked: bytes, why: str) -> None:
    with pytest.raises(InvalidEvictionError, match=why):
        question(asked)


def test_a_plan_says_of_each_pod_what_happens_to_it() -> None:
    planned = plan(PodSelection(namespace="shop"), [evictable("a"), evictable("b", None)])
    shown = documents.planned(planned)
    assert shown["id"] == planned.id
    assert [(each["name"], each["workload"], each["evicted"]) for each in shown["pods"]] == [
        ("a", "Deployment/web", True),
        ("b", "", False),
    ]


def test_a_request_is_shown_with_its_progress() -> None:
    states: dict[str, EvictionState] = {"a": "evicted", "b": "queued", "c": "queued"}
    rows = [
        RequestedEviction(request="r1", pod=evictable(name), state=state, at=1)
        for name, state in states.items()
    ]
    shown = documents.shown(eviction_request(), rows)
    assert shown["counts"] == {"evicted": 1, "queued": 2}
    assert [each["state"] for each in shown["pods"]] == ["evicted", "queued", "queued"]
    listed = documents.listed([(eviction_request(), {"queued": 3})])
    assert listed["items"][0]["counts"] == {"queued": 3}
