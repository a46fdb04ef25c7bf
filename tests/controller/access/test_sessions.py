from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.secret import Secret
from nemutator_controller.access.sessions import Session, Sessions

NOW = 1000.0


def standing(*secrets: str, most: int = 10) -> Sessions[str]:
    sessions: Sessions[str] = Sessions(lasting_s=100, most=most)
    for number, secret in enumerate(secrets):
        sessions.open(Secret(secret), secret.upper(), now=NOW + number)
    return sessions


def value(session: Session[str] | None) -> str | None:
    return None if session is None else session.value


def test_a_secret_stands_for_its_value_until_it_expires() -> None:
    sessions = standing("key")
    assert value(sessions.find("key", now=NOW + 99)) == "KEY"
    assert sessions.find("key", now=NOW + 100) is None


def test_what_is_used_up_is_gone() -> None:
    sessions = standing("key", "other")
    assert value(sessions.use_up("key", now=NOW)) == "KEY"
    assert sessions.use_up("key", now=NOW) is None
    assert sessions.find("key", now=NOW) is None
    assert value(sessions.find("other", now=NOW)) == "OTHER"


def test_what_has_expired_cannot_be_used_up() -> None:
    assert standing("key").use_up("key", now=NOW + 100) is None


@given(st.text())
def test_no_other_text_opens_anything(text: str) -> None:
    sessions = standing("key", "other")
    found = sessions.find(text, now=NOW)
    assert (found is not None) == (text in {"key", "other"})


def test_text_that_is_no_unicode_opens_nothing() -> None:
    assert standing("key").find("\udc80", now=NOW) is None


def test_a_secret_is_not_kept_as_it_is() -> None:
    session = standing("key").find("key", now=NOW)
    assert session is not None
    assert b"key" not in session.digest


def test_the_oldest_makes_room() -> None:
    sessions = standing("a", "b", "c", most=2)
    assert [value(sessions.find(one, now=NOW)) for one in "abc"] == [None, "B", "C"]


def test_the_same_secret_again_makes_no_room() -> None:
    sessions = standing("a", "b", "b", most=2)
    assert [value(sessions.find(one, now=NOW)) for one in "ab"] == ["A", "B"]


def test_what_has_expired_makes_room_first() -> None:
    sessions = standing("a", "b", most=2)
    sessions.open(Secret("c"), "C", now=NOW + 100)
    assert [value(sessions.find(one, now=NOW + 100)) for one in "abc"] == [None, "B", "C"]


def test_a_restored_session_lasts_until_its_own_end() -> None:
    session = standing("key").find("key", now=NOW)
    assert session is not None
    after: Sessions[str] = Sessions(lasting_s=1, most=10)
    after.restore([session], now=NOW + 5)
    assert value(after.find("key", now=NOW + 99)) == "KEY"
    assert after.find("key", now=NOW + 100) is None
