import pytest
from nemutator_agent.profiler.heap.buckets import ForgedError
from nemutator_agent.profiler.heap.counts import MOST_PROCESSORS, read
from nemutator_agent.profiler.heap.memory import Memory, UnmappedError
from nemutator_agent.profiler.heap.messages import CountAnswer

from tests.fakes.heaps import COUNTS, PLACES, PROCESSORS, counted, reader


def answered(pieces: dict[int, bytes]) -> CountAnswer:
    return read(Memory(reader(pieces)), PLACES)


def test_goroutines_are_those_that_have_not_ended_and_are_not_the_runtimes_own() -> None:
    # 40 ever, less 3 and 2 and 7 and 1 that are kept, less 5 of the runtime.
    assert answered(counted()) == CountAnswer(goroutines=22, collections=34, pauses_ns=5_000_000)


def test_counts_that_do_not_fit_each_other_are_one_goroutine_as_in_the_runtime() -> None:
    assert answered(counted(ever=6)).goroutines == 1


@pytest.mark.parametrize("ever", [1 << 53, (1 << 64) - 1])
def test_more_than_there_can_be_are_forged(ever: int) -> None:
    with pytest.raises(ForgedError):
        answered(counted(ever=ever))


def test_pauses_that_are_no_time_are_forged() -> None:
    with pytest.raises(ForgedError):
        answered(counted(pauses_ns=1 << 63))


@pytest.mark.parametrize("kept", [[], [0] * (MOST_PROCESSORS + 1)])
def test_processors_are_as_many_as_go_uses(kept: list[int]) -> None:
    with pytest.raises(ForgedError, match="processors"):
        answered(counted(kept=kept))


def test_what_are_no_processors_is_not_followed() -> None:
    pieces = counted()
    other = bytearray(pieces[PROCESSORS])
    other[4096] = 9
    with pytest.raises(ForgedError, match="in their order"):
        answered({**pieces, PROCESSORS: bytes(other)})


def test_what_is_not_mapped_cannot_be_read() -> None:
    pieces = counted()
    del pieces[COUNTS]
    with pytest.raises(UnmappedError):
        answered(pieces)
