import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.bounded_file import TooMuchError
from nemutator_agent.profiler.symbols.image import DamagedError
from nemutator_agent.profiler.symbols.value_table import ValueTable

from tests.agent.profiler.symbols.files import image
from tests.fakes.elf_files import Forge
from tests.fakes.go_programs import Runs, encoded

RUNS = st.lists(st.tuples(st.integers(-1, 1 << 30), st.integers(1, 1 << 20)), min_size=1)


def table(content: bytes, *, quantum: int = 1, effort: int = 1 << 30) -> ValueTable:
    """At the end of an ELF file."""
    whole = Forge(contents=[(b".text", bytes(64))]).build()
    found = image(whole + content)
    found.effort.renew(effort)
    return ValueTable(found, len(whole), quantum=quantum)


def slowly(runs: Runs, distance: int) -> int:
    """The same by going through all runs."""
    end = 0
    for value, run in runs:
        end += run
        if distance < end:
            return value
    return -1


def distinct(runs: Runs) -> Runs:
    """Go never writes that a value changes to itself, which is how a table ends."""
    kept: Runs = []
    for value, run in runs:
        if kept and kept[-1][0] == value:
            continue
        kept.append((value, run))
    return kept


@given(RUNS.map(distinct), st.lists(st.integers(0, 1 << 22)))
def test_whatever_is_asked_in_whatever_order(runs: Runs, distances: list[int]) -> None:
    read = table(encoded(runs))
    edges = [sum(run for _, run in runs[:number]) for number in range(len(runs) + 1)]
    for distance in (*distances, *edges, *reversed(edges)):
        assert read.value(distance) == slowly(runs, distance)


def test_only_what_is_asked_for_is_decoded() -> None:
    runs = [(number % 2, 1) for number in range(10_000)]
    read = table(encoded(runs))
    assert [read.value(at) for at in (5, 3)] == [1, 1]
    assert len(read) == 6
    assert read.value(9_999) == 1
    assert len(read) == 10_000


def test_what_was_decoded_costs_next_to_nothing() -> None:
    runs = [(number % 2, 1) for number in range(5_000)]
    read = table(encoded(runs), effort=16_000)
    read.value(4_999)
    for at in range(100):
        read.value(at)
    with pytest.raises(TooMuchError):
        table(encoded(runs), effort=4_000).value(4_999)


def test_instructions_may_have_a_least_size() -> None:
    read = table(encoded([(7, 2), (9, 1)]), quantum=4)
    assert [read.value(at) for at in (0, 7, 8, 11, 12)] == [7, 7, 9, 9, -1]


@pytest.mark.parametrize("cut", range(1, 6))
def test_a_table_that_ends_with_the_file_is_true_until_there(cut: int) -> None:
    content = encoded([(1, 300), (2, 300)])
    read = table(content[:-cut])
    with pytest.raises(DamagedError, match="no end"):
        read.value(600)
    if cut <= 3:
        assert read.value(10) == 1


def test_a_number_without_an_end_is_refused_each_time() -> None:
    read = table(b"\x02\x05" + b"\xff" * 8)
    assert read.value(4) == 0
    for _ in range(2):
        with pytest.raises(DamagedError, match="a number"):
            read.value(5)
    assert read.value(0) == 0


def test_places_before_the_entry_have_the_first_value() -> None:
    assert table(encoded([(7, 2), (9, 1)])).value(-5) == 7
