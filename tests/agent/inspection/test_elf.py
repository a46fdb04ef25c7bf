import pytest
from nemutator_agent.inspection.bounded_file import BoundedFile
from nemutator_agent.inspection.elf import Elf, NotElfError

from tests.fakes.elf_files import ADDRESS, Forge

SHAPES = [(8, "<"), (8, ">"), (4, "<"), (4, ">")]


def opened(content: bytes) -> tuple[Elf, BoundedFile]:
    file = BoundedFile(
        lambda offset, size: content[offset : offset + size],
        budget_bytes=1 << 26,
        budget_reads=2000,
    )
    return Elf(file), file


@pytest.mark.parametrize(("word", "order"), SHAPES)
def test_every_class_and_byte_order_is_read(word: int, order: str) -> None:
    forge = Forge(word, order, [(b".data", b"12345")], needed=(b"libc.so.6", b"libpython3.11.so"))
    content = forge.build()
    elf, _ = opened(content)
    section = elf.section(b".data")
    assert section is not None
    assert content[section.offset : section.offset + section.size] == b"12345"
    assert elf.at_address(ADDRESS + section.offset, 3) == b"123"
    assert elf.section(b".none") is None
    assert list(elf.needed()) == [b"libc.so.6", b"libpython3.11.so"]


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF", b"\x7fELF" + b"\0" * 60])
def test_what_is_no_elf_is_said(content: bytes) -> None:
    with pytest.raises(NotElfError):
        opened(content)


def test_addresses_outside_of_every_segment_hold_nothing() -> None:
    elf, _ = opened(Forge().build())
    assert elf.at_address(0, 8) == b""
    assert elf.at_address(2**64 - 1, 8) == b""


def test_without_section_headers_there_are_none() -> None:
    elf, _ = opened(Forge(contents=[(b".data", b"x")], sections=False).build())
    assert elf.sections == ()
