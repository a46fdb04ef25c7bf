import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.placement.documents import placement_document, priorities
from nemutator_controller.placement.scores import explained

from tests.controller.placement.nodes import POD, node, snapshot


def test_priorities_use_all_of_what_a_scheduler_takes() -> None:
    found = priorities(["a", "b", "c"], [0.70, 0.71, 0.72])
    assert msgspec.to_builtins(found) == [
        {"Host": "a", "Score": 0},
        {"Host": "b", "Score": 5},
        {"Host": "c", "Score": 10},
    ]
    assert [one.score for one in priorities(["a", "b"], [0.5, 0.5])] == [0, 0]
    assert priorities([], []) == []


@given(st.lists(st.floats(0, 1), max_size=50))
def test_priorities_keep_the_order_and_their_range(scored: list[float]) -> None:
    found = priorities([str(n) for n in range(len(scored))], scored)
    assert all(0 <= one.score <= 10 for one in found)
    for (one, first), (other, second) in zip(
        zip(found, scored, strict=True), zip(found[1:], scored[1:], strict=True), strict=False
    ):
        if first <= second:
            assert one.score <= other.score


def test_a_placement_says_how_old_it_is_and_why() -> None:
    found = snapshot(node("a"), taken_at=90.0)
    document = placement_document(found, POD, explained(found, POD), now=100.0)
    assert document["ageS"] == 10.0
    assert document["workload"] == {"namespace": "shop", "kind": "Deployment", "name": "web"}
    (item,) = document["items"]
    assert item["node"] == "a"
    assert {each["name"] for each in item["factors"]} >= {"cpu", "familiars", "neighbours"}
