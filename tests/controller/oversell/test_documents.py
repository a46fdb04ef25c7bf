import pytest
from nemutator_controller.list_pages import TokenError
from nemutator_controller.oversell.documents import ORDERS, oversell_document
from nemutator_controller.queries import AskedPage

from tests.controller.oversell.test_verdicts import verdict

EVERYTHING = AskedPage("name", None, "")
FOUR = [
    verdict("a1", ratio=120, requested_millis=3_000, used_millis=None, waiting=None),
    verdict("a2", ratio=180, requested_millis=1_000, used_millis=500, waiting=0.2),
    verdict("b1", ratio=100, requested_millis=2_000, used_millis=900, waiting=0.0),
    verdict("b2", ratio=180, requested_millis=2_000, used_millis=10, waiting=0.9),
]


def names_of(asked: AskedPage) -> list[str]:
    found = oversell_document(FOUR, asked, most=3, at=5.0, now=9.0, problem="")
    return [one["node"] for one in found["items"]]


def test_each_node_is_said_in_cores_and_ratios() -> None:
    found = oversell_document([verdict()], EVERYTHING, most=3, at=5.0, now=9.0, problem="")
    assert (found["most"], found["age_s"]) == (3, 4.0)
    [item] = found["items"]
    assert (item["raw_cores"], item["allocatable_cores"], item["used_cores"]) == (4.0, 6.0, 1.0)
    assert (item["asked"], item["standing"], item["ratio"], item["could"]) == (1.5, 1.5, 1.5, 1.8)
    assert item["why"] == "it is what the policy asks for"


def test_what_is_not_known_is_null() -> None:
    unknown = verdict(used_millis=None, could=None, asked=None, waiting=None)
    found = oversell_document([unknown], EVERYTHING, most=0, at=0.0, now=9.0, problem="not yet")
    assert (found["age_s"], found["problem"]) == (None, "not yet")
    [item] = found["items"]
    assert [item[key] for key in ("used_cores", "could", "asked", "waiting")] == [None] * 4


@pytest.mark.parametrize(
    ("order", "first"),
    [("name", "a1"), ("ratio", "a2"), ("requested", "a1"), ("used", "b1"), ("waiting", "b2")],
)
def test_the_largest_come_first(order: str, first: str) -> None:
    assert order in ORDERS
    assert names_of(AskedPage(order, None, ""))[0] == first


@pytest.mark.parametrize("order", ORDERS)
def test_pages_one_after_another_are_all_nodes(order: str) -> None:
    seen: list[str] = []
    after = ""
    while True:
        asked = AskedPage(order, 3, after)
        page = oversell_document(FOUR, asked, most=3, at=5.0, now=9.0, problem="")
        seen += [one["node"] for one in page["items"]]
        assert page["remaining"] == len(FOUR) - len(seen)
        if not (after := page["next"]):
            break
    assert seen == names_of(AskedPage(order, None, ""))
    assert sorted(seen) == ["a1", "a2", "b1", "b2"]


def test_nodes_are_found_by_parts_of_their_names() -> None:
    assert names_of(AskedPage("name", None, "", ("a",))) == ["a1", "a2"]
    assert names_of(AskedPage("name", 1, "", ("2", "b"))) == ["b2"]


def test_a_token_of_another_list_is_none() -> None:
    with pytest.raises(TokenError):
        names_of(AskedPage("name", 1, "x"))
