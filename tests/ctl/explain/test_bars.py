from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.explain.bars import WIDTH, Bar, bars


def test_the_largest_takes_all_the_room_and_half_of_it_half() -> None:
    assert bars([Bar("used", 0.5, "500m"), Bar("requested", 1.0, "1"), Bar("none", None, "")]) == [
        f"used      {'█' * (WIDTH // 2)} 500m",
        f"requested {'█' * WIDTH} 1",
    ]


def test_the_least_is_still_to_be_seen() -> None:
    assert bars([Bar("a", 1e-9, "x"), Bar("b", 1.0, "y")])[0] == "a ▏ x"


def test_where_there_are_no_blocks_it_is_drawn_in_ascii() -> None:
    least, most = bars([Bar("a", 1e-9, "x"), Bar("b", 1.0, "y")], unicode=False)
    assert (least, most) == ("a # x", f"b {'#' * WIDTH} y")


def test_without_any_amount_there_is_no_picture() -> None:
    assert bars([Bar("a", None, ""), Bar("b", 0.0, "0")]) == []
    assert bars([]) == []


@given(st.lists(st.floats(0, 1e18), max_size=8))
def test_no_bar_is_wider_than_the_room(amounts: list[float]) -> None:
    for line in bars([Bar("a", amount, "") for amount in amounts]):
        assert 1 <= len(line[2:].rstrip(" ")) <= WIDTH
