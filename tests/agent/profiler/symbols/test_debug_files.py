import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.debug_files import LONGEST_LINK, is_link, link, paths
from nemutator_agent.profiler.symbols.image import Image

from tests.agent.profiler.symbols.files import reader
from tests.fakes.elf_files import Forge


def linked(content: bytes) -> str:
    return link(Image(reader(Forge(contents=[(b".gnu_debuglink", content)]).build())))


def test_the_name_ends_at_its_zero() -> None:
    assert linked(b"shop.debug\0\0\x01\x02\x03\x04") == "shop.debug"
    assert link(Image(reader(Forge(contents=[(b".text", bytes(8))]).build()))) == ""


@pytest.mark.parametrize(
    "content",
    [
        b"../shop\0", b"/etc/shadow\0", b"a/b\0", b"..\0", b".\0", b"a\x1b[2J\0", b"no end", b"",
        b"x" * (LONGEST_LINK + 1) + b"\0",
    ],
)  # fmt: skip
def test_what_is_no_name_of_a_file_is_none(content: bytes) -> None:
    assert linked(content) == ""


@given(st.binary(max_size=600))
def test_whatever_is_there_is_a_name_or_nothing(content: bytes) -> None:
    name = linked(content)
    assert is_link(name)
    assert "/" not in name


def test_the_build_id_leads_there_first_and_then_the_name() -> None:
    assert paths("/srv/bin/shop", build_id="abcdef", name="shop.debug") == (
        "/usr/lib/debug/.build-id/ab/cdef.debug",
        "/srv/bin/shop.debug",
        "/srv/bin/.debug/shop.debug",
        "/usr/lib/debug/srv/bin/shop.debug",
    )
    assert paths("/srv/shop", build_id="", name="") == ()
    assert paths("/srv/shop", build_id="ab", name="") == ()


def test_no_file_is_its_own_debug_file() -> None:
    assert "/srv/shop" not in paths("/srv/shop", build_id="abcd", name="shop")
    assert paths("[stack]", build_id="", name="x") == ()
