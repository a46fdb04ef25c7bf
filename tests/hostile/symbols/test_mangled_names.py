"""Names that strangers chose: whatever they hold, a bounded text comes out, and soon."""

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.demangled.cursor import COST, LONGEST, MOST_STEPS
from nemutator_agent.profiler.symbols.demangled.names import demangled
from nemutator_agent.profiler.symbols.image import EFFORT
from nemutator_agent.profiler.symbols.lookup import Executable
from nemutator_agent.profiler.symbols.messages import (
    MOST_ADDRESSES,
    SymbolQuestion,
    decode_answer,
    encode_answer,
)

from tests.agent.profiler.symbols.demangled.mangled import CPP, RUST
from tests.agent.profiler.symbols.files import reader
from tests.agent.profiler.symbols.test_native import FUNCTION, library
from tests.fakes.elf_files import ADDRESS

TRUE = [mangled for mangled, _ in CPP + RUST]
LETTERS = "NSTIEJXLZPRKVOFAMDCUBGYspvtbuhc_0129sAZ.$"
DEEPEST_NAMES = [
    "_Z1f" + "N1AI" * 400,
    "_R" + "I" * 900,
    "_Z" + "Z" * 900,
]


def named(mangled: str) -> str:
    paid: list[int] = []
    found = demangled(mangled, paid.append)
    assert len(found) <= max(LONGEST, len(mangled))
    assert sum(paid) <= 3 * COST * (MOST_STEPS + 1)
    return found


@given(st.sampled_from(["_Z", "_ZN", "_R", "_RNv", "_Z1f"]), st.text(LETTERS, max_size=200))
def test_anything_after_a_prefix(prefix: str, text: str) -> None:
    named(prefix + text)


@given(
    st.sampled_from(TRUE),
    st.lists(st.tuples(st.integers(0, 200), st.sampled_from(LETTERS)), min_size=1, max_size=6),
)
def test_letters_changed_in_true_names(mangled: str, changes: list[tuple[int, str]]) -> None:
    letters = list(mangled)
    for place, letter in changes:
        letters[place % len(letters)] = letter
    named("".join(letters))


@given(st.sampled_from(TRUE), st.integers(0, 200), st.integers(1, 60))
def test_parts_repeated(mangled: str, place: int, times: int) -> None:
    place %= len(mangled)
    named(mangled[:place] + mangled[place:] * times)


def test_names_that_nest_as_deeply_as_they_can() -> None:
    for name in DEEPEST_NAMES:
        assert named(name) == name


def test_a_file_full_of_costly_names_ends_with_the_effort() -> None:
    symbols = [("_Z1f" + "Pi" * 200, ADDRESS + n, 1, FUNCTION) for n in range(1, MOST_ADDRESSES)]
    content = library(symbols, flags=5)
    places = tuple(range(0x100, MOST_ADDRESSES))
    answer = Executable(reader(content), effort=EFFORT // 10).answer(SymbolQuestion(False, places))
    assert answer.notes == ("too_much",)


def test_names_that_would_steer_a_terminal_are_escaped() -> None:
    names = ["\x1b[2J\r\n", "_ZN10$u1b$$u5b$17h1234567890abcdefE", "_RNvC1au6_a0a0a9", "<script>"]
    content = library(
        [(name, ADDRESS + 0x100 + n, 1, FUNCTION) for n, name in enumerate(names)], flags=5
    )
    question = SymbolQuestion(False, tuple(range(0x100, 0x100 + len(names))))
    answer = Executable(reader(content)).answer(question)
    assert decode_answer(encode_answer(answer), question) == answer
    shown = [answer.frames[stack[0]].function for stack in answer.places if stack]
    assert shown[:2] == ["\\x1b[2J\\r\\n", "\\x1b["]
    assert shown[-1] == "<script>"
    assert all(name.isprintable() for name in shown)
