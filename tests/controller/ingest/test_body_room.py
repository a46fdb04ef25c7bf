import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ingest.body_room import BodyLease, BodyRoom, NoRoomError


def test_a_caller_has_its_part_and_others_have_theirs() -> None:
    room = BodyRoom(total=10, each=4)
    first, second = BodyLease(room, "a"), BodyLease(room, "a")
    first.take(3)
    with pytest.raises(NoRoomError):
        second.take(2)
    BodyLease(room, "b").take(4)
    first.end()
    second.take(4)


def test_all_together_have_no_more_than_there_is() -> None:
    room = BodyRoom(total=10, each=4)
    leases = [BodyLease(room, name) for name in "abc"]
    for lease in leases[:2]:
        lease.take(4)
    leases[2].take(2)
    with pytest.raises(NoRoomError):
        leases[2].take(1)
    leases[0].end()
    leases[2].take(1)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6)), max_size=50))
def test_what_was_taken_is_given_back(taken: list[tuple[str, int]]) -> None:
    room = BodyRoom(total=12, each=6)
    leases = []
    for caller, size in taken:
        leases.append(BodyLease(room, caller))
        before = sum(lease.size for lease in leases)
        try:
            leases[-1].take(size)
        except NoRoomError:
            assert sum(lease.size for lease in leases) == before
        assert sum(lease.size for lease in leases) <= 12
        assert sum(lease.size for lease in leases if lease.caller == caller) <= 6
    for lease in leases:
        lease.end()
        lease.end()
    for caller in "ab":
        BodyLease(room, caller).take(6)
