from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.evictions import documents
from nemutator_controller.evictions.plans import PodSelection, plan
from nemutator_controller.evictions.records import RequestedEviction
from nemutator_ctl.evict.view import (
    decode_list,
    decode_plan,
    decode_request,
    instead_of_yes,
    list_view,
    plan_view,
    request_view,
)

from tests.fakes.evictions import evictable, eviction_request


def travelled(document: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(document))


def request(*states: Any) -> Any:
    rows = [
        RequestedEviction(request="r1", pod=evictable(str(n)), state=state, at=1, why="why")
        for n, state in enumerate(states)
    ]
    return decode_request(travelled(documents.shown(eviction_request(), rows)))


def test_a_plan_shows_what_goes_and_what_stays() -> None:
    wanted = PodSelection(pods=(("shop", "a"), ("shop", "b"), ("shop", "x\x1b")))
    made = plan(wanted, [evictable("a"), evictable("b", None)])
    planned = decode_plan(travelled(documents.planned(made)))
    text = plan_view(planned)
    assert planned.does_something
    assert text.startswith(f"plan {made.id}: 1 of 2 pods would be evicted\n")
    assert "shop/a   Deployment/web   n1     yes" in text
    assert "nobody would make another one" in text
    assert "\x1b" not in text


def test_every_pod_there_is_needs_more_than_a_yes() -> None:
    made = plan(PodSelection(), [evictable("a")])
    planned = decode_plan(travelled(documents.planned(made)))
    assert planned.takes_all
    assert "it needs --all" in plan_view(planned)
    assert instead_of_yes(planned) == f"--all --planned={made.id}"
    some = plan(PodSelection(namespace="shop"), [evictable("a")])
    of_some = decode_plan(travelled(documents.planned(some)))
    assert instead_of_yes(of_some) == f"--yes, or --planned={some.id}"


def test_a_request_shows_its_pods_and_whether_it_goes_on() -> None:
    text = request_view(request("evicted", "waits"))
    assert text.startswith("r1: all pods, for anna: new kernel\n  1 evicted, 1 waits; until ")
    assert request("evicted", "waits").goes_on
    assert not request("evicted", "failed").goes_on
    assert not request("evicted", "failed").is_whole
    assert request("evicted", "gone").is_whole


def test_requests_are_a_table() -> None:
    assert list_view(()) == "nobody has asked for an eviction\n"
    listed = travelled(documents.listed([(eviction_request(), {"queued": 3})]))
    assert "r1   1970-01-01 00:00:00Z   anna   all pods   3 queued   new kernel" in list_view(
        decode_list(listed)
    )


def test_another_answer_is_not_understood() -> None:
    with pytest.raises(OperatorError, match="not understood"):
        decode_plan({"id": 1})
