import pytest
from nemutator_agent.profiler.symbols import go_module, pclntab

from tests.agent.profiler.symbols.files import image
from tests.fakes.go_programs import GENERIC, GoProgram, address


def found(program: GoProgram) -> go_module.Module | None:
    file = image(program.build())
    return go_module.find(file, pclntab.find(file))


@pytest.mark.parametrize("word", range(32, 48))
@pytest.mark.parametrize("newer", [True, False])
def test_the_word_that_moves_is_found_by_what_it_points_to(word: int, newer: bool) -> None:
    module = found(GoProgram(newer=newer, data_word=word))
    assert module is not None
    assert module.text == address(0)
    assert module.data == found(GoProgram(newer=newer)).data  # type: ignore[union-attr]


@pytest.mark.parametrize("zeros", [38, 42])
@pytest.mark.parametrize("newer", [True, False])
def test_zeros_are_not_taken_for_what_was_inlined(zeros: int, newer: bool) -> None:
    module = found(GoProgram(newer=newer, zeros_word=zeros))
    assert module is not None
    assert module.data == found(GoProgram(newer=newer)).data  # type: ignore[union-attr]


@pytest.mark.parametrize("in_head", [True, False])
@pytest.mark.parametrize("sections", [True, False])
def test_it_is_found_by_section_or_by_search(in_head: bool, sections: bool) -> None:
    module = found(GoProgram(text_in_head=in_head, sections=sections))
    assert module is not None
    assert module.data is not None


def test_without_the_word_nothing_is_guessed() -> None:
    module = found(GoProgram(data_word=50))
    assert module is not None
    assert module.data is None


def test_a_program_in_which_nothing_was_inlined_has_nothing_to_compare() -> None:
    module = found(GoProgram(functions=(GENERIC,)))
    assert module is not None
    assert module.data is None


def test_there_may_be_none() -> None:
    assert found(GoProgram(module=False)) is None
