import base64
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.list_pages import LONGEST_TOKEN, Position, TokenError, page_of

ITEMS = st.lists(
    st.tuples(st.integers(-3, 3).map(float), st.text(max_size=3)),
    unique_by=lambda item: item[1],
    max_size=30,
)


def position(item: tuple[float, str]) -> Position:
    return item[0], (item[1],)


@given(ITEMS, st.integers(1, 7))
def test_pages_one_after_another_are_the_list(items: list[tuple[float, str]], limit: int) -> None:
    seen: list[tuple[float, str]] = []
    after = ""
    while True:
        page = page_of(items, position, order="cpu", limit=limit, after=after)
        seen += page.items
        assert page.remaining == len(items) - len(seen)
        after = page.next
        if not after:
            break
        assert len(page.items) == limit
    assert seen == sorted(items, key=lambda item: (-item[0], item[1]))


def test_what_comes_between_two_pages_is_found_by_its_place() -> None:
    items = [(0.0, "b"), (0.0, "d")]
    first = page_of(items, position, order="name", limit=1, after="")
    page = page_of(
        [*items, (0.0, "a"), (0.0, "c")], position, order="name", limit=None, after=first.next
    )
    assert page.items == [(0.0, "c"), (0.0, "d")]
    # Where the page began is gone by now.
    assert page_of([(0.0, "d")], position, order="name", limit=9, after=first.next).remaining == 0


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "%%%",
        "é",
        "A" * (LONGEST_TOKEN + 1),
        base64.urlsafe_b64encode(b'["name",0]').decode(),
        base64.urlsafe_b64encode(b'["name",0,[1]]').decode(),
        base64.urlsafe_b64encode(b"[" * 1500).decode(),
        base64.urlsafe_b64encode(b'["cpu",0,["b"]]').decode(),
    ],
)
def test_a_token_that_is_none_is_refused(token: str) -> None:
    with pytest.raises(TokenError):
        page_of([(0.0, "b")], position, order="name", limit=1, after=token)


@given(st.text(max_size=40))
def test_any_text_is_a_token_or_is_refused(token: str) -> None:
    with contextlib.suppress(TokenError):
        page_of([(0.0, "b")], position, order="name", limit=1, after=token)
