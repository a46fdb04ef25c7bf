import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.go_buildinfo import SECTION, go_version

from tests.agent.inspection.test_elf import SHAPES, opened
from tests.fakes.elf_files import ADDRESS, Forge, inline_info, pointed_info

NEW = inline_info(b"go1.26.8")


def version(content: bytes) -> str | None:
    return go_version(*opened(content))


@pytest.mark.parametrize("sections", [True, False])
def test_the_version_is_found_with_and_without_section_headers(sections: bool) -> None:
    contents = [(b".data", bytes(1000)), (SECTION, NEW)]
    assert version(Forge(contents=contents, sections=sections).build()) == "go1.26.8"


@pytest.mark.parametrize(("word", "order"), SHAPES)
def test_the_old_form_with_pointers(word: int, order: str) -> None:
    def build(address: int) -> bytes:
        info = pointed_info(b"go1.17.13", address=address, word=word, order=order)
        return Forge(word, order, [(SECTION, info)]).build()

    elf, _ = opened(build(0))
    section = elf.section(SECTION)
    assert section is not None
    assert version(build(ADDRESS + section.offset)) == "go1.17.13"


def test_a_development_version() -> None:
    name = b"devel go1.27-1a2b3c Tue Mar 3 12:00:00 2026 +0000"
    assert version(Forge(contents=[(SECTION, inline_info(name))]).build()) == name.decode()


def test_a_magic_off_its_boundary_or_in_read_only_data_is_somebody_elses() -> None:
    off = bytes(3) + NEW
    assert version(Forge(contents=[(b".data", off)], sections=False).build()) is None
    assert version(Forge(contents=[(b".data", NEW)], sections=False, flags=4).build()) is None
    assert version(Forge(contents=[(b".rodata", NEW)]).build()) is None


def test_a_magic_across_two_steps_is_found() -> None:
    for before in (256 << 10, (256 << 10) - 16, (512 << 10) - 32):
        contents = [(b".data", bytes(before) + NEW)]
        assert version(Forge(contents=contents, sections=False).build()) == "go1.26.8"


@given(st.binary(max_size=80), st.integers(0, 255), st.integers(0, 255))
def test_a_forged_blob_says_nothing_or_something_like_a_version(
    tail: bytes, word: int, flags: int
) -> None:
    blob = NEW[:14] + bytes([word, flags]) + tail
    found = version(Forge(contents=[(SECTION, blob)]).build())
    assert found is None or found.startswith(("go1", "devel "))


def test_a_varint_that_never_ends_is_not_followed() -> None:
    blob = NEW[:32] + b"\xff" * 200
    assert version(Forge(contents=[(SECTION, blob)]).build()) is None
