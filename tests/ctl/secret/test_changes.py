import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.secret.changes import NotALineError, Notice, notice, path_after


def test_a_line_is_a_change_or_a_sign_of_life() -> None:
    assert notice(b'{"name":"db","version":3,"sequence":8}\n') == Notice(8, "db", 3)
    assert notice(b'{"name":"db","version":null,"sequence":8}\n') == Notice(8, "db")
    assert notice(b'{"sequence":8}\n') == Notice(8)
    assert notice(b'{"missed":true,"sequence":8}\n') == Notice(8, missed=True)


def test_the_last_line_says_why_it_is_the_last() -> None:
    with pytest.raises(NotALineError, match=r"not let in.*alive"):
        notice(b'{"error":"not let in","remedy":"x","step":"alive"}')


@given(st.binary(max_size=100) | st.sampled_from([b"[]", b"1", b'{"sequence":"8"}', b"{}"]))
def test_what_is_no_line_is_refused(line: bytes) -> None:
    with pytest.raises(NotALineError):
        notice(line)


def test_a_stream_begins_now_or_after_what_was_seen() -> None:
    assert path_after(None) == "/v1/watch"
    assert path_after(8) == "/v1/watch?after=8"
