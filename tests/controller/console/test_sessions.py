from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.secret import Secret
from nemutator_controller.console.sessions import (
    LINK_S,
    MOST_LINKS,
    MOST_SESSIONS,
    Sessions,
)

NOW = 1000.0


def standing(*keys: str) -> Sessions:
    sessions = Sessions(session_s=100)
    for key in keys:
        sessions.offer(Secret(key), now=NOW)
    return sessions


def test_a_key_opens_one_session_once() -> None:
    sessions = standing("key")
    assert sessions.redeem("key", Secret("token"), now=NOW) is not None
    assert sessions.admits("token", now=NOW)
    assert sessions.redeem("key", Secret("second"), now=NOW) is None
    assert not sessions.admits("second", now=NOW)


def test_a_key_expires() -> None:
    assert standing("key").redeem("key", Secret("token"), now=NOW + LINK_S) is None


def test_a_session_expires() -> None:
    sessions = standing("key")
    sessions.redeem("key", Secret("token"), now=NOW)
    assert sessions.admits("token", now=NOW + 99)
    assert not sessions.admits("token", now=NOW + 100)


@given(st.text())
def test_no_other_text_opens_anything(text: str) -> None:
    sessions = standing("key", "other")
    sessions.redeem("other", Secret("token"), now=NOW)
    if text not in {"key"}:
        assert sessions.redeem(text, Secret("t"), now=NOW) is None
    if text != "token":
        assert not sessions.admits(text, now=NOW)


def test_text_that_is_no_unicode_opens_nothing() -> None:
    assert standing("key").redeem("\udc80", Secret("t"), now=NOW) is None


def test_neither_is_kept_as_it_is() -> None:
    sessions = standing("key")
    session = sessions.redeem("key", Secret("token"), now=NOW)
    assert session is not None
    assert b"token" not in session.digest


def test_the_oldest_link_and_the_oldest_session_make_room() -> None:
    sessions = Sessions(session_s=100)
    for number in range(MOST_LINKS + 1):
        sessions.offer(Secret(f"key {number}"), now=NOW + number)
    assert sessions.redeem("key 0", Secret("t"), now=NOW + 50) is None
    for number in range(MOST_SESSIONS + 1):
        sessions.offer(Secret(f"again {number}"), now=NOW)
        sessions.redeem(f"again {number}", Secret(f"token {number}"), now=NOW + number)
    assert not sessions.admits("token 0", now=NOW + 50)
    assert sessions.admits(f"token {MOST_SESSIONS}", now=NOW + 50)


def test_a_restored_session_is_let_in_until_its_end() -> None:
    before = standing("key")
    session = before.redeem("key", Secret("token"), now=NOW)
    assert session is not None
    after = Sessions(session_s=1)
    after.restore([session], now=NOW + 5)
    assert after.admits("token", now=NOW + 99)
    assert not after.admits("token", now=NOW + 100)
