import json
from collections.abc import Sequence
from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.api import Api, ApiResponse
from nemutator_ctl.topology.pages import Seen, pages

from tests.ctl.topologies import document, workload


class Brain(Api):
    """Answers with the documents in their order, and keeps what it was asked."""

    def __init__(self, answers: Sequence[object]) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def _ask(self, method: str, target: str, body: bytes | None) -> ApiResponse:
        self.asked.append(target)
        return ApiResponse(200, json.dumps(self._answers[len(self.asked) - 1]).encode())


def page(*names: str, following: str = "") -> dict[str, Any]:
    [node] = document(workloads=[workload("/a")], processes=[])["nodes"]
    return {"nodes": [node | {"name": name} for name in names], "next": following}


def test_pages_are_asked_for_until_there_is_no_next_one() -> None:
    brain = Brain([page("a", "b", following="b"), page("c", following="c"), page("d")])
    found = [node["name"] for one in pages(brain, {"namespace": "x"}) for node in one["nodes"]]
    assert found == ["a", "b", "c", "d"]
    first = "/api/v1/topology?namespace=x"
    assert brain.asked == [first, f"{first}&continue=b", f"{first}&continue=c"]


def test_an_older_brain_has_everything_in_one_answer() -> None:
    assert len(list(pages(Brain([{"nodes": []}]), {}))) == 1


@pytest.mark.parametrize("following", ["b", "a", 7, None])
def test_pages_that_would_never_end_are_refused(following: object) -> None:
    brain = Brain([page("b", following="b"), page("b") | {"next": following}])
    with pytest.raises(OperatorError, match="not a page"):
        list(pages(brain, {}))


def test_what_is_no_page_is_refused() -> None:
    with pytest.raises(OperatorError, match="not a page"):
        list(pages(Brain([[]]), {}))


def test_what_was_seen_is_of_all_pages() -> None:
    seen = Seen()
    empty = document(workloads=[], processes=[])
    assert (seen.any_node, seen.anything) == (False, False)
    assert not seen.take(empty).found
    assert (seen.any_node, seen.anything, seen.namespaces) == (True, False, {"a", "b"})
    taken = seen.take(page("c"))
    assert [node.name for node in taken.found] == ["c"]
    seen.take(empty)
    assert seen.anything
