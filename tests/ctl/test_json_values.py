import pytest
from nemutator_ctl.json_values import items, mapping, number, text_or_none


def test_a_value_of_the_right_type_comes_back_as_it_is() -> None:
    assert mapping({"a": 1}) == {"a": 1}
    assert items([1]) == [1]
    assert number(2) == 2.0
    assert text_or_none(None) is None
    assert text_or_none("x") == "x"


@pytest.mark.parametrize("raw", [None, "x", True, [], float("nan"), float("inf"), 10**400])
def test_what_is_no_number_is_a_type_error(raw: object) -> None:
    with pytest.raises(TypeError):
        number(raw)


@pytest.mark.parametrize("raw", [None, "x", 1])
def test_neither_text_nor_nothing_is_taken_for_a_collection(raw: object) -> None:
    for taken in (mapping, items):
        with pytest.raises(TypeError):
            taken(raw)
