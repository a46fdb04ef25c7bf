"""Lines come out whole, however the bytes were cut, and memory stays bounded."""

from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.kube.lines import KEPT_OF_OVERLONG, LONGEST_LINE, LineSplitter


@given(st.lists(st.binary(max_size=50).filter(lambda b: b"\n" not in b)), st.data())
def test_any_cut_gives_the_same_lines(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    splitter = LineSplitter()
    found: list[bytes] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == [line for line in lines if line.strip()]


def test_a_line_of_3_mb_passes() -> None:
    line = b"x" * (3 << 20)
    splitter = LineSplitter()
    found = [got for start in range(0, len(line), 65_536)
             for got in splitter.feed(line[start : start + 65_536])]  # fmt: skip
    assert found == []
    assert splitter.feed(b"\nnext") == [line]
    assert splitter.feed(b"\n") == [b"next"]


def test_an_endless_line_is_not_kept() -> None:
    splitter = LineSplitter(longest=10_000)
    for _ in range(100):
        assert splitter.feed(b"y" * 5000) == []
    beginning, after = splitter.feed(b"\nafter\n")
    assert beginning == b"y" * KEPT_OF_OVERLONG
    assert after == b"after"
    assert splitter.overlong == 1


def test_an_overlong_line_inside_one_chunk_is_cut_too() -> None:
    splitter = LineSplitter(longest=5000)
    found = splitter.feed(b"a\n" + b"z" * 6000 + b"\nb\n")
    assert [len(line) for line in found] == [1, KEPT_OF_OVERLONG, 1]
    assert LONGEST_LINE > 3 << 20
