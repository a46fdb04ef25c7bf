from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.files.room import FileRoom

STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 12), st.booleans()), max_size=30
)


@given(STEPS)
def test_it_knows_what_is_taken_and_gives_no_more(
    steps: list[tuple[str, int | None, bool]],
) -> None:
    room = FileRoom(most=10)
    taken: dict[str, int] = {}
    for volume, size, there in steps:
        if size is None:
            room.leave(volume)
            taken.pop(volume, None)
            continue
        before = sum(taken.values())
        if room.take(volume, size, there=there):
            taken[volume] = size
            assert there or sum(taken.values()) <= max(10, before)
        else:
            assert before - taken.get(volume, 0) + size > max(10, before)
        assert room.used == sum(taken.values())


def test_what_is_there_already_counts_and_may_shrink() -> None:
    room = FileRoom(most=10)
    assert room.take("a", 12, there=True)
    assert not room.take("b", 1)
    assert room.take("a", 11)
    assert not room.take("a", 13)
    room.leave("a")
    assert room.take("b", 10)
