import pytest
from nemutator_agent.profiler.symbols.demangled.cursor import LONGEST, NotMangledError
from nemutator_agent.profiler.symbols.demangled.itanium_types import (
    CppPack,
    CppType,
    array,
    each,
    function,
    last_name,
    member,
    pointed,
    qualified,
    spread,
    templated,
)

INT = CppType("int")


def test_what_is_declared_stands_inside_of_functions_and_arrays() -> None:
    callback = function(INT, "char")
    assert callback.text == "int (char)"
    assert pointed(callback, "*").text == "int (*)(char)"
    assert pointed(pointed(callback, "*"), "*").text == "int (**)(char)"
    assert function(pointed(callback, "*"), "").text == "int (*())(char)"
    assert pointed(callback, "*").around("f(bool)") == "int (*f(bool))(char)"
    assert pointed(array(array(INT, "3"), "2"), "&").text == "int (&) [2][3]"
    assert member(qualified(callback, " const"), "Foo").text == "int (Foo::*)(char) const"
    assert qualified(array(INT, "2"), " const").text == "int const [2]"


def test_a_reference_to_a_reference_is_one() -> None:
    rvalue = pointed(INT, "&&")
    assert pointed(rvalue, "&").text == "int&"
    assert pointed(rvalue, "&&").text == "int&&"
    assert pointed(pointed(INT, "&"), "&&").text == "int&"


def test_a_pack_is_changed_one_by_one() -> None:
    pack = CppPack((INT, CppType("char")))
    changed = each(pack, lambda one: pointed(one, "*"))
    assert spread([changed, INT]) == ["int*", "char*", "int"]
    assert changed.text == "int*, char*"


def test_brackets_do_not_become_operators() -> None:
    assert templated("a", ["b<c>"]) == "a<b<c> >"
    assert templated("operator<", ["b"]) == "operator< <b>"


@pytest.mark.parametrize(
    ("text", "last"), [("a::b<c::d>", "b"), ("a", "a"), ("a<b>::c", "c"), ("", ""), ("a>", "a>")]
)
def test_the_last_name_is_that_of_the_class(text: str, last: str) -> None:
    assert last_name(text) == last


def test_a_type_that_grows_too_long_is_refused() -> None:
    with pytest.raises(NotMangledError):
        pointed(CppType("x" * LONGEST), "*")
