"""Lines come out whole, however the bytes were cut, and memory stays bounded."""

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.lines import KEPT_OF_OVERLONG, LONGEST_LINE, Lines, LineSplitter


def whole(run: Lines) -> bytes:
    """*run* with the newline at its end, which a line out of several chunks has lost."""
    return bytes(run).removesuffix(b"\n") + b"\n"


@given(st.lists(st.binary(max_size=50).filter(lambda b: b"\n" not in b)), st.data())
def test_any_cut_gives_the_same_lines(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    splitter = LineSplitter()
    found = b""
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += b"".join(whole(run) for run in splitter.feed(stream[:size]))
        stream = stream[size:]
    assert found == b"".join(line + b"\n" for line in lines)


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
    assert after == b"after\n"
    assert splitter.overlong == 1


def test_what_lies_whole_in_a_chunk_is_not_copied() -> None:
    chunk = b"a\nb\nc"
    (found,) = LineSplitter().feed(chunk)
    assert isinstance(found, memoryview)
    assert found.obj is chunk


def test_a_line_of_kubernetes_is_not_overlong() -> None:
    etcd_takes, grows_by = 1536 << 10, 6
    assert etcd_takes * grows_by < LONGEST_LINE
