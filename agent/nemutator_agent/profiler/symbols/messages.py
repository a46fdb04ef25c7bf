"""What the worker is asked and what it answers, and how little of its answers is believed.

The file that the worker parsed may have taken it over, so an answer is accepted only when the
question could have it. Names in it are chosen by a stranger in any case.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

import msgspec
from nemutator_common.profiles.grade import Verdict
from nemutator_common.profiles.model import Frame

from nemutator_agent.inspection.failures import InvalidAnswerError
from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.symbols import debug_files

MOST_ADDRESSES = 1536
"""The most of one question. Tables of symbols are read once for each."""

LARGEST_QUESTION = 64 << 10
LARGEST_ANSWER = 8 << 20
MOST_FRAMES = 32 * MOST_ADDRESSES
LONGEST_TEXT = 4096
_LARGEST = 1 << 62
_BUILD_ID = re.compile("(?:[0-9a-f]{2}){0,64}")

Note = Literal["go_too_old", "go_damaged", "no_inlines", "too_much", "hidden", "no_elf", "cut"]
"""no_inlines: a Go program whose inlined calls cannot be found. too_much: the file led from place to
place until the effort was spent. hidden: the kernel shows no addresses. cut: of a list of names that
is too long only the end was read."""


@dataclass(frozen=True, slots=True)
class SymbolQuestion:
    """About the file that comes with it: an executable, the kernel's list of symbols, or the names that
    a process has written for code it has compiled."""

    kernel: bool
    places: tuple[int, ...] = ()
    """Offsets in the file; addresses where a list of names is asked."""
    depths: tuple[int, ...] = ()
    """Those of the places for which the depth of the stack is asked, too."""
    calls: tuple[tuple[int, int], ...] = ()
    """Callers, each by the last byte before the return address, with the place in what it called."""
    id: FileId | None = None
    """What the file was when it was opened: by this the worker, which cannot ask, knows it again."""
    perf_map: bool = False
    is_debug_file: bool = False
    """The places are addresses of the file that it is of: it has no code of its own."""


@dataclass(frozen=True, slots=True)
class SymbolAnswer:
    frames: tuple[Frame, ...] = ()
    places: tuple[tuple[int, ...] | None, ...] = ()
    """For each place asked, in `frames`, the innermost first; None where nothing is known."""
    depths: tuple[int, ...] = ()
    """-1 where the depth is not known."""
    text: tuple[int, int] | None = None
    """Where the code of a Go program begins and ends, as offsets in the file."""
    notes: tuple[Note, ...] = ()
    build_id: str = ""
    """Hexadecimal digits."""
    shift: int = 0
    """How much more than their places in the file the addresses of its code are."""
    calls: tuple[Verdict, ...] = ()
    debug_link: str = ""
    """The name of the file that has its symbols, as it says itself."""


def encode_question(question: SymbolQuestion) -> bytes:
    return msgspec.json.encode(question)


def decode_question(content: bytes) -> SymbolQuestion:
    """Questions are our own, so nothing else is expected here."""
    return msgspec.json.decode(content, type=SymbolQuestion)


def encode_answer(answer: SymbolAnswer) -> bytes:
    return msgspec.json.encode(answer)


def decode_answer(content: bytes, question: SymbolQuestion) -> SymbolAnswer:
    if len(content) > LARGEST_ANSWER:
        raise InvalidAnswerError("the answer is too long")
    try:
        answer = msgspec.json.decode(content, type=SymbolAnswer)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise InvalidAnswerError("the answer does not have the form of one") from None
    if not (_is_about(answer, question) and all(map(_is_symbol, answer.frames))):
        raise InvalidAnswerError("the question could not have this answer")
    return answer


def _is_about(answer: SymbolAnswer, question: SymbolQuestion) -> bool:
    known = range(len(answer.frames))
    first, end = answer.text or (0, 1)
    return (
        len(answer.places) == len(question.places)
        and len(answer.depths) == len(question.depths)
        and len(answer.calls) == len(question.calls)
        and len(known) <= MOST_FRAMES
        and all(number in known for stack in answer.places for number in stack or ())
        and all(-_LARGEST <= depth <= _LARGEST for depth in answer.depths)
        and 0 <= first < end <= _LARGEST
        and len(answer.notes) <= len(get_args(Note))
        and _BUILD_ID.fullmatch(answer.build_id) is not None
        and 0 <= answer.shift <= _LARGEST
        and debug_files.is_link(answer.debug_link)
    )


def _is_symbol(frame: Frame) -> bool:
    """Where the frame is in which file is not for the worker to say."""
    return (
        len(frame.function) <= LONGEST_TEXT
        and len(frame.file) <= LONGEST_TEXT
        and frame.function.isprintable()
        and frame.file.isprintable()
        and 0 <= frame.line <= 1 << 32
        and 0 <= frame.start_line <= 1 << 32
        and frame.address == 0
        and frame.binary is None
    )
