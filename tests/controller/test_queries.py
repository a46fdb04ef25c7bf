import pytest
from nemutator_controller.queries import (
    LARGEST_PAGE,
    USUAL_PAGE,
    AskedPage,
    PageQueryError,
    asked_page,
    flag_in,
    is_called,
    limit_in,
    time_in,
)

ORDERS = ("name", "cpu")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (None, 100),
        ("1", 1),
        ("1000", 1000),
        ("007", 7),
        ("0", None),
        ("1001", None),
        ("-1", None),
        ("+1", None),
        ("1.0", None),
        ("", None),
        ("x", None),
        ("\N{SUPERSCRIPT TWO}", None),
        ("\N{ARABIC-INDIC DIGIT TWO}", None),
        ("9" * 100_000, None),
    ],
)
def test_a_list_has_as_many_items_as_are_asked_for(text: str | None, wanted: int | None) -> None:
    assert limit_in(text, usual=100, most=1000) == wanted


def test_a_flag_is_not_set_unless_it_is_said_and_is_nothing_else() -> None:
    assert [flag_in(text) for text in (None, "false", "true")] == [False, False, True]
    assert [flag_in(text) for text in ("", "yes", "True", "1")] == [None] * 4


def test_a_time_is_a_number() -> None:
    assert time_in(None, usual=7.0) == 7.0
    assert time_in("1.5", usual=7.0) == 1.5
    assert [time_in(text, usual=7.0) for text in ("", "now", "nan")] == [None] * 3


def test_a_page_is_bounded_whether_its_caller_says_so_or_not() -> None:
    assert asked_page({}, orders=ORDERS) == AskedPage("name", USUAL_PAGE, "")
    assert asked_page({}, orders=ORDERS, usual=None).limit is None
    query = {"limit": "7", "continue": "x", "orderBy": "cpu", "search": " Cart  SHOP "}
    assert asked_page(query, orders=ORDERS) == AskedPage("cpu", 7, "x", ("cart", "shop"))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"limit": "0"}, "limit: expected 1 to 5000"),
        ({"limit": str(LARGEST_PAGE + 1)}, "limit: expected 1 to 5000"),
        ({"limit": ""}, "limit: expected 1 to 5000"),
        ({"orderBy": "age"}, "orderBy: expected one of name, cpu"),
        ({"search": "x" * 201}, "search: expected at most 200 characters"),
    ],
)
def test_what_no_page_can_be_asked_with_is_named(query: dict[str, str], said: str) -> None:
    with pytest.raises(PageQueryError, match=said):
        asked_page(query, orders=ORDERS)


def test_a_name_has_all_words_somewhere() -> None:
    assert is_called("Shop/Cart", ("cart", "sh"))
    assert not is_called("Shop/Cart", ("cart", "till"))
    assert is_called("anything", ())
