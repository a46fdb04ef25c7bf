import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.native import functions
from nemutator_common.profiles.model import Frame

from tests.agent.profiler.symbols.files import image
from tests.fakes.elf_files import Forge

FUNCTION, OBJECT = 2, 1


def library(
    symbols: list[tuple[str, int, int, int]],
    *,
    word: int = 8,
    order: str = "<",
    names: tuple[bytes, bytes] = (b".symtab", b".strtab"),
    flags: int = 6,
) -> bytes:
    """*symbols*: name, address, size, kind."""
    table, texts = bytearray(), bytearray(b"\0")
    for name, address, size, kind in symbols:
        if word == 8:
            table += struct.pack(order + "IBBHQQ", len(texts), kind, 0, 1, address, size)
        else:
            table += struct.pack(order + "IIIBBH", len(texts), address, size, kind, 0, 1)
        texts += name.encode() + b"\0"
    contents = [(names[0], bytes(table)), (names[1], bytes(texts))]
    return Forge(word, order, contents, flags=flags).build()


def named(content: bytes, addresses: list[int]) -> dict[int, str]:
    found = functions(image(content), addresses)
    assert all(frame == Frame(frame.function, kind="native") for frame in found.values())
    return {address: frame.function for address, frame in found.items()}


@pytest.mark.parametrize("word", [4, 8])
@pytest.mark.parametrize("order", ["<", ">"])
def test_an_address_is_named_only_inside_of_a_function(word: int, order: str) -> None:
    content = library(
        [("late", 200, 10, FUNCTION), ("early", 100, 10, FUNCTION)], word=word, order=order
    )
    assert named(content, [99, 100, 109, 110, 205, 210]) == {
        100: "early",
        109: "early",
        205: "late",
    }


def test_symbols_without_size_and_data_name_nothing() -> None:
    content = library(
        [("f", 100, 50, FUNCTION), ("label", 110, 0, FUNCTION), ("data", 120, 9, OBJECT)]
    )
    assert named(content, [111, 121]) == {111: "f", 121: "f"}


def test_a_stripped_library_has_the_functions_that_it_exports() -> None:
    content = library([("malloc", 100, 10, FUNCTION)], names=(b".dynsym", b".dynstr"))
    assert named(content, [100]) == {100: "malloc"}
    assert named(Forge().build(), [100]) == {}


@given(st.lists(st.tuples(st.integers(1, 300), st.integers(1, 30)), max_size=20))
def test_nothing_is_named_after_a_function_that_it_is_not_in(ranges: list[tuple[int, int]]) -> None:
    content = library([(f"f{n}", start, size, FUNCTION) for n, (start, size) in enumerate(ranges)])
    found = named(content, list(range(1, 340)))
    for address, name in found.items():
        start, size = ranges[int(name[1:])]
        assert start <= address < start + size


def test_a_mangled_name_is_shown_as_its_source_has_it() -> None:
    content = library([("_ZN3foo3barEv", 100, 10, FUNCTION), ("_ZN3foo", 200, 10, FUNCTION)])
    assert named(content, [100, 109, 200]) == {100: "foo::bar()", 109: "foo::bar()", 200: "_ZN3foo"}
