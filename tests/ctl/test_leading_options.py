import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.leading_options import ALONE, WITH_VALUE, behind

WORD = st.text(min_size=1, max_size=8).filter(lambda word: not word.startswith("-"))
OPTION = st.one_of(
    st.tuples(st.sampled_from(sorted(WITH_VALUE)), WORD).map(list),
    st.tuples(st.sampled_from(sorted(WITH_VALUE)), WORD).map(lambda both: ["=".join(both)]),
    st.sampled_from(sorted(ALONE)).map(lambda word: [word]),
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--context west mutations --limit 3", "mutations --context west --limit 3"),
        ("--context=west -n shop advise", "advise --context=west -n shop"),
        ("-A workloads", "workloads -A"),
        ("mutations --context west", "mutations --context west"),
        ("--version", "--version"),
        ("--help", "--help"),
        ("--contxt west mutations", "--contxt west mutations"),
        ("--context", "--context"),
        ("", ""),
    ],
)
def test_options_may_stand_before_the_command(typed: str, meant: str) -> None:
    assert behind(typed.split()) == meant.split()


@given(st.lists(OPTION), WORD, st.lists(st.text()))
def test_no_word_is_lost_and_the_command_comes_first(
    options: list[list[str]], command: str, rest: list[str]
) -> None:
    before = [word for option in options for word in option]
    assert behind([*before, command, *rest]) == [command, *before, *rest]
