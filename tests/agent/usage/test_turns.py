from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.turns import Turns


def test_new_ones_come_at_once_and_then_each_in_its_time() -> None:
    turns, members = Turns(every_s=15.0), [f"g{number}" for number in range(10)]
    assert turns.due(members, 0.0) == tuple(members)
    seen = [turns.due(members, 3.0 * look) for look in range(1, 6)]
    assert [len(one) for one in seen] == [2] * 5
    assert sorted(name for one in seen for name in one) == members


def test_one_that_came_late_does_not_wait_for_the_others() -> None:
    turns = Turns(every_s=15.0)
    turns.due(["a"], 0.0)
    assert "b" in turns.due(["a", "b"], 1.0)


def test_after_a_long_pause_all_are_due_once() -> None:
    turns, members = Turns(every_s=15.0), ["a", "b", "c"]
    turns.due(members, 0.0)
    assert sorted(turns.due(members, 500.0)) == members
    assert turns.due(members, 500.0) == ()


@given(st.lists(st.sets(st.sampled_from("abcdefgh")), min_size=1, max_size=20))
def test_nobody_is_named_twice_or_without_being_there(looks: list[set[str]]) -> None:
    turns = Turns(every_s=4.0)
    known: set[str] = set()
    for at, members in enumerate(looks):
        due = turns.due(members, float(at))
        assert len(set(due)) == len(due)
        assert members - known <= set(due) <= members
        known = members
