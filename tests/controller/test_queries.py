import pytest
from nemutator_controller.queries import limit_in


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
