from collections.abc import Mapping, Sequence

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.api import Api, ApiResponse
from nemutator_ctl.whole_lists import LARGEST_PAGE, MOST_PAGES, whole_list

PATH = "/api/v1/nodes"


class Brain(Api):
    """Answers with *pages* by what it is asked to go on with, and remembers what it was asked."""

    def __init__(self, pages: Mapping[str, object]) -> None:
        self._pages = pages
        self.asked: list[dict[str, str]] = []

    def get(self, path: str, query: Mapping[str, str] | None = None) -> object:
        assert path == PATH
        self.asked.append(dict(query or {}))
        return self._pages[(query or {}).get("continue", "")]

    def _ask(self, method: str, target: str, body: bytes | None) -> ApiResponse:
        raise AssertionError(target)


def page(items: Sequence[str], following: object, remaining: int) -> dict[str, object]:
    return {"kind": "List", "totals": 3, "next": following, "remaining": remaining, "items": items}


def test_all_pages_are_one_document_with_the_head_of_the_first() -> None:
    brain = Brain({"": page(["a", "b"], "b", 1), "b": page(["c"], "", 0)})
    found = whole_list(brain, PATH, {"orderBy": "cpu"})
    assert found == page(["a", "b", "c"], "", 0)
    first = {"orderBy": "cpu", "limit": LARGEST_PAGE}
    assert brain.asked == [first, {**first, "continue": "b"}]


def test_one_page_is_as_it_came() -> None:
    only = {"items": ["a"]}
    assert whole_list(Brain({"": only}), PATH, {}) is only


def test_who_wants_few_gets_one_page_and_what_remains() -> None:
    brain = Brain({"": page(["a"], "a", 2)})
    assert whole_list(brain, PATH, {"limit": "1"}) == page(["a"], "a", 2)
    assert brain.asked == [{"limit": "1"}]


@pytest.mark.parametrize("answer", [None, [], {}, {"items": {}}, page(["a"], 7, 1)])
def test_what_is_no_page_is_said(answer: object) -> None:
    with pytest.raises(OperatorError, match="not a page of a list"):
        whole_list(Brain({"": answer}), PATH, {})


def test_a_list_that_never_ends_is_given_up() -> None:
    endless = page(["a"], "", 1) | {"next": "x"}
    brain = Brain({"": endless, "x": endless})
    with pytest.raises(OperatorError, match=f"a list without an end: {MOST_PAGES} items"):
        whole_list(brain, PATH, {})
