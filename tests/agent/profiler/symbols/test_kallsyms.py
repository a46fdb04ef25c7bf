import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.kallsyms import FARTHEST, AddressesHiddenError, functions
from nemutator_common.profiles.model import Frame

BASE = 0xFFFFFFFF81000000
LINES = b"".join(
    b"%016x %s\n" % (BASE + offset, rest)
    for offset, rest in (
        (0x200, b"t later"),
        (0x100, b"T first"),
        (0x180, b"D data"),
        (0x5000, b"t nf_hook\t[nf_tables]"),
    )
)


def pieces(content: bytes, size: int) -> list[bytes]:
    return [content[start : start + size] for start in range(0, len(content), size)]


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_however_the_file_is_cut_the_nearest_code_is_found(size: int) -> None:
    wanted = [BASE, BASE + 0x100, BASE + 0x190, BASE + 0x2FF, BASE + 0x5001]
    found = functions(pieces(LINES, size), wanted)
    assert found == {
        BASE + 0x100: Frame("first", kind="kernel"),
        BASE + 0x190: Frame("first", kind="kernel"),
        BASE + 0x2FF: Frame("later", kind="kernel"),
        BASE + 0x5001: Frame("nf_hook", "[nf_tables]", kind="kernel"),
    }


def test_what_is_too_far_from_any_symbol_has_no_name() -> None:
    assert functions([LINES], [BASE + 0x5000 + FARTHEST]) == {}


def test_hidden_addresses_are_said() -> None:
    with pytest.raises(AddressesHiddenError):
        functions([b"0000000000000000 T first\n0000000000000000 t second\n"], [BASE])
    assert functions([], [BASE]) == {}


@given(st.lists(st.binary(max_size=200)))
def test_noise_names_nothing_and_harms_nobody(noise: list[bytes]) -> None:
    with contextlib.suppress(AddressesHiddenError):
        functions(noise, [BASE])
