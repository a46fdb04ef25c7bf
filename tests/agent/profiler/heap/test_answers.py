from array import array

import pytest
from nemutator_agent.profiler.heap.answers import TRIES, about_memory, about_program
from nemutator_agent.profiler.heap.layouts import Layout

from tests.agent.profiler.symbols.files import reader as file_reader
from tests.fakes.go_programs import GoProgram
from tests.fakes.heaps import NEW, OLD, SITES, VARIABLES, Bucket, heap, question, reader


@pytest.mark.parametrize("layout", [OLD, NEW], ids=["1.26", "1.27"])
def test_a_heap_is_read(layout: Layout) -> None:
    answer = about_memory(reader(heap([Bucket()], layout=layout, rate=512)), question(layout))
    assert (answer.flaw, answer.rate, answer.moved, answer.left_out) == ("", 512, False, False)
    assert list(array("Q", answer.sites)) == [3, 1, 192, 64, 2, 0x400011, 0x400021]


@pytest.mark.parametrize(
    ("cycle", "flag_bits", "published"),
    [(10 << 1 | 1, 1, 9), (10 << 1, 1, 8), (1, 1, 0), (0, 1, 0), (10, 0, 9)],
)
def test_it_says_as_of_which_collection(cycle: int, flag_bits: int, published: int) -> None:
    asked = question(Layout(4, flag_bits))
    answer = about_memory(reader(heap([Bucket()], cycle=cycle)), asked)
    assert answer.collections == published


def test_without_the_variable_it_does_not() -> None:
    asked = question()
    answer = about_memory(
        reader(heap([Bucket()])),
        type(asked)(
            text=asked.text, cycle_words=4, flag_bits=1, buckets=asked.buckets,
            rates=asked.rates, cycles=(),
        ),
    )  # fmt: skip
    assert (answer.flaw, answer.collections) == ("", -1)


def test_what_is_in_the_way_is_named() -> None:
    def flaw(pieces: dict[int, bytes]) -> str:
        return about_memory(reader(pieces), question()).flaw

    assert flaw(heap([Bucket()], rate=0)) == "off"
    assert flaw(heap([Bucket()], rate=1 << 50)) == "no_rate"
    assert flaw({}) == "unreadable"
    assert flaw(heap([Bucket(active=(1, 2))])) == "torn"
    assert flaw(heap([Bucket(size=1 << 60)])) == "forged"
    pieces = heap([Bucket()])
    del pieces[SITES]
    assert flaw(pieces) == "not_found"
    assert about_memory(reader(heap([Bucket()])), question(), most_bytes=10).flaw == "too_much"


def test_a_heap_that_is_published_meanwhile_is_read_again() -> None:
    class Moving:
        """One more collection each time that its number is read, as often as it is told."""

        def __init__(self, moves: int) -> None:
            self.moves, self.reads = moves, 0

        def __call__(self, address: int, size: int) -> bytes:
            cycle = min(self.reads, self.moves)
            if address <= VARIABLES < address + size:
                self.reads += 1
            return reader(heap([Bucket()], cycle=cycle << 1 | 1))(address, size)

    once = about_memory(Moving(4), question())
    assert (once.flaw, once.moved) == ("", False)
    always = about_memory(Moving(1000), question())
    assert (always.flaw, always.moved) == ("", True)
    assert TRIES == 4


def test_a_program_without_a_table_is_not_go() -> None:
    assert about_program(file_reader(b"#!/bin/sh\n")).flaw == "not_go"


def test_an_old_program_is_named() -> None:
    answer = about_program(file_reader(GoProgram(magic=0xFFFFFFFA).build()))
    assert (answer.flaw, answer.version) == ("too_old", "Go 1.16 or 1.17")


def test_a_program_without_the_runtimes_functions_has_no_variables() -> None:
    answer = about_program(file_reader(GoProgram().build()))
    assert (answer.flaw, answer.is_linked, answer.buckets) == ("", False, ())
