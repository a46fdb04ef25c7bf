import pytest
from nemutator_controller.queries import flag_in, limit_in, time_in


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
