"""Statuses of nodes: always let in, changed by the rule alone, and left as they came when anything is odd."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.admission.node_statuses import NodeStatusHandler, ReviewedNode
from nemutator_controller.admission.ports import WrittenNode
from nemutator_controller.admission.reviews import LARGEST_OBJECT, UNCHANGED, decode, encode

from tests.fakes.admission_reviews import review, verified
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

NODE: dict[str, Any] = {
    "metadata": {"name": "n1", "labels": {"a": "b"}, "annotations": {"c": "d"}},
    "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "4"}, "nodeInfo": {"x": 1}},
}
STATUS: dict[str, Any] = {
    "resource": {"group": "", "version": "v1", "resource": "nodes"},
    "subResource": "status",
    "operation": "UPDATE",
    "name": "n1",
    "namespace": "",
    "userInfo": {"username": "system:node:n1"},
}
RESULTS = ("amplified", "not_a_status", "bad_object", "internal")
DOUBLED = [{"op": "replace", "path": "/status/allocatable/cpu", "value": "8"}]


@dataclass(frozen=True)
class Change:
    result: str = "amplified"
    operations: list[dict[str, Any]] = field(default_factory=lambda: DOUBLED)


class Statuses:
    def __init__(self, error: Exception | None = None) -> None:
        self.meter, self.error = MemoryMeter(), error
        self.asked: list[tuple[str, WrittenNode, WrittenNode]] = []
        self.handler = NodeStatusHandler(self.rule, fake_process(meter=self.meter))

    def rule(self, user: str, before: WrittenNode, after: WrittenNode) -> Change:
        self.asked.append((user, before, after))
        if self.error is not None:
            raise self.error
        return Change()

    def ask(self, manifest: Any = NODE, old: Any = NODE, **request: Any) -> tuple[Any, str]:
        """The patch, and how it was counted."""
        body = msgspec.json.encode(review(manifest, **{**STATUS, "oldObject": old, **request}))
        asked = decode(body)
        found = verified(encode(asked.uid, self.handler.answer(asked)), asked.uid)
        assert found.allowed
        [counted] = [
            one for one in RESULTS if self.meter.value(names.NODE_STATUSES, result=one) == 1
        ]
        return found.patch, counted


def test_the_rule_sees_who_writes_what_in_the_place_of_what() -> None:
    statuses = Statuses()
    old = {"metadata": {"name": "n1", "labels": None}}
    assert statuses.ask(old=old) == (DOUBLED, "amplified")
    after = ReviewedNode("n1", {"a": "b"}, {"c": "d"}, {"cpu": "4"}, {"cpu": "4"})
    assert statuses.asked == [("system:node:n1", ReviewedNode("n1"), after)]


@pytest.mark.parametrize(
    "request_",
    [
        {"operation": "CREATE"},
        {"operation": "DELETE"},
        {"subResource": ""},
        {"subResource": None},
        {"resource": {"group": "", "version": "v1", "resource": "pods"}},
        {"resource": {"group": "x", "version": "v1", "resource": "nodes"}},
    ],
)
def test_what_is_no_status_of_a_node_is_left_alone(request_: dict[str, Any]) -> None:
    assert Statuses().ask(**request_) == ([], "not_a_status")


@pytest.mark.parametrize(
    ("manifest", "old"),
    [
        (None, NODE),
        (NODE, None),
        ([], NODE),
        ({"metadata": {"name": 4}}, NODE),
        ({"metadata": {"name": ""}}, {"metadata": {"name": ""}}),
        ({"metadata": {"name": "n2"}}, {"metadata": {"name": "n2"}}),
        (NODE, {"metadata": {"name": "n2"}}),
        ({"metadata": {"name": "n1", "annotations": {"x": 4}}}, NODE),
        ({"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": 4}}}, NODE),
        ({"metadata": {"name": "n1"}, "status": []}, NODE),
        ({"metadata": {"name": "n1", "labels": {"x": "y" * LARGEST_OBJECT}}}, NODE),
    ],
)
def test_what_is_no_sound_node_is_left_as_it_came(manifest: Any, old: Any) -> None:
    assert Statuses().ask(manifest, old) == ([], "bad_object")


def test_a_rule_that_fails_fails_nobody() -> None:
    assert Statuses(ValueError("x")).ask() == ([], "internal")


values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=50)
@given(values, values)
def test_whatever_is_sent_is_let_in(manifest: Any, old: Any) -> None:
    statuses = Statuses()
    asked = decode(msgspec.json.encode(review(manifest, **{**STATUS, "oldObject": old})))
    assert statuses.handler.answer(asked) is UNCHANGED
