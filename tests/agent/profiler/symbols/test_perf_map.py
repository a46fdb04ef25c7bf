import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.image import Effort
from nemutator_agent.profiler.symbols.perf_map import LONGEST_NAME, functions
from nemutator_common.profiles.model import Frame

ENTRIES = st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)), max_size=20)


def named(content: bytes, addresses: list[int], *, step: int = 7) -> dict[int, str]:
    pieces = (content[at : at + step] for at in range(0, len(content), step))
    found, whole = functions(pieces, addresses, Effort())
    assert whole
    assert all(frame == Frame(frame.function, kind="native") for frame in found.values())
    return {address: frame.function for address, frame in found.items()}


def test_the_last_line_that_has_an_address_is_right_about_it() -> None:
    content = (
        b"100 20 Builtin:a\n110 4 py::b:/srv/b.py\n110 2 LazyCompile:*c x.js:1:2\n0x200 0x10 d\n"
    )
    assert named(content, [0xFF, 0x100, 0x110, 0x112, 0x114, 0x11F, 0x120, 0x205]) == {
        0x100: "Builtin:a",
        0x110: "LazyCompile:*c x.js:1:2",
        0x112: "py::b:/srv/b.py",
        0x114: "Builtin:a",
        0x11F: "Builtin:a",
        0x205: "d",
    }


@pytest.mark.parametrize(
    "line", [b"", b"100", b"100 20", b"x 20 f", b"100 y f", b"-1 -5 f", b"\0\0\0", b"100 20 half"]
)
def test_what_is_no_whole_line_names_nothing(line: bytes) -> None:
    assert named(b"100 1 before\n" + line, [0x100]) == {0x100: "before"}


@given(ENTRIES, st.integers(1, 40))
def test_each_address_has_the_name_of_the_last_one_around_it(
    entries: list[tuple[int, int]], step: int
) -> None:
    content = b"".join(b"%x %x f%d\n" % (start, size, n) for n, (start, size) in enumerate(entries))
    expected = {}
    for address in range(0, 380, 3):
        for number, (start, size) in enumerate(entries):
            if start <= address < start + size:
                expected[address] = f"f{number}"
    assert named(content, list(range(0, 380, 3)), step=step) == expected


@given(st.binary(max_size=300), st.integers(1, 40))
def test_any_bytes_are_read(content: bytes, step: int) -> None:
    named(content, [0, 1, 0x100], step=step)


def test_names_of_any_length_are_bounded() -> None:
    content = b"1 ffffffffffffffffffff " + b"x" * 10_000 + b"\n" + b"5 1 late\n"
    found = named(content, [1, 5], step=1 << 20)
    assert found == {1: "x" * LONGEST_NAME, 5: "late"}
    assert named(content, [1, 5], step=100)[5] == "late"


def test_lines_that_each_cover_everything_end_with_the_effort() -> None:
    content = b"0 ffffffff f\n" * 1000
    found, whole = functions([content], list(range(100)), Effort(5000))
    assert not whole
    assert set(found.values()) == {Frame("f", kind="native")}
