from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.outbox import Outbox
from nemutator_common.wire import ProfileOutcome


def outcome(name: str, *, state: str = "done", size: int = 0) -> ProfileOutcome:
    return ProfileOutcome(
        id=name, node="n", state="running" if state == "running" else "done", pprof=bytes(size)
    )


def test_what_came_first_goes_first() -> None:
    outbox = Outbox()
    outbox.put(outcome("a"))
    outbox.put(outcome("b"))
    first = outbox.first()
    assert first is not None
    assert first.id == "a"
    outbox.forget(first)
    second = outbox.first()
    assert second is not None
    assert second.id == "b"
    outbox.forget(second)
    assert outbox.first() is None


def test_the_end_of_a_profile_replaces_its_beginning() -> None:
    outbox = Outbox()
    outbox.put(outcome("a", state="running"))
    outbox.put(outcome("b", state="running"))
    assert outbox.put(outcome("a")) == []
    assert len(outbox) == 2
    first = outbox.first()
    assert first is not None
    assert first.id == "b"


def test_an_outcome_that_made_room_meanwhile_can_be_forgotten() -> None:
    outbox = Outbox(most=1)
    old = outcome("a")
    outbox.put(old)
    assert outbox.put(outcome("b")) == [old]
    outbox.forget(old)
    assert len(outbox) == 1


@given(st.lists(st.integers(0, 40), max_size=40))
def test_it_never_holds_more_than_it_may_but_always_the_last(sizes: list[int]) -> None:
    outbox = Outbox(most=4, most_bytes=50)
    dropped = 0
    for number, size in enumerate(sizes):
        dropped += len(outbox.put(outcome(str(number), size=size)))
        assert len(outbox) <= 4
    assert dropped + len(outbox) == len(sizes)
    held = []
    while (first := outbox.first()) is not None:
        held.append(first)
        outbox.forget(first)
    assert sum(len(one.pprof) for one in held) <= 50
    assert [int(one.id) for one in held] == list(range(dropped, len(sizes)))
