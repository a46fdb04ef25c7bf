from nemutator_agent.profiler.symbols.demangled.itanium_words import (
    BINARY,
    BUILTIN,
    OPERATORS,
    STANDARD,
    STANDARD_IN_FULL,
    UNARY,
)


def test_operators_in_expressions_are_operators() -> None:
    assert set(OPERATORS) >= UNARY | BINARY
    assert set(STANDARD) > set(STANDARD_IN_FULL)


def test_no_code_is_the_beginning_of_another_one() -> None:
    for codes in (OPERATORS, BUILTIN):
        assert not [(a, b) for a in codes for b in codes if a != b and b.startswith(a)]
