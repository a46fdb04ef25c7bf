import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ageing.kept_windows import kept, packed, source_of, unpacked

from tests.fakes.windows import heap_reading


def test_a_reading_is_kept_with_what_a_verdict_needs() -> None:
    window = kept(heap_reading(in_use=5_000))
    assert (window.heap_bytes, window.rss_bytes, window.goroutines) == (6_000, 50 << 20, 4)
    assert window.sites is not None
    assert [one.in_use_bytes for one in window.sites.values()] == [5_000]
    assert (window.allocated_objects, window.cpu_seconds) == (120, None)
    assert window.missing == {"open_files": "the process is another user's"}
    assert unpacked(packed(window)) == window
    assert len(packed(window)) < 400


def test_the_same_process_is_one_source_and_a_restart_is_another() -> None:
    one = source_of(heap_reading())
    assert source_of(heap_reading(at=2_600.0)).id == one.id
    assert (one.pid, one.program, one.image) == (42, "shop", "ab12")


@given(st.binary(max_size=200))
def test_other_bytes_are_no_window(content: bytes) -> None:
    for each in (content, zlib.compress(content)):
        with pytest.raises(ValueError, match="not a window"):
            unpacked(each)
