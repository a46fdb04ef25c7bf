"""What the worker is asked and what it answers, and how little of its answers is believed.

Whatever the worker parsed may have taken it over: an answer is taken only when it is one that the
question could have. Names in it are a stranger's words in any case.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from nemutator_common.profiles.model import Frame, FrameKind

from nemutator_agent.inspection.failures import InvalidAnswerError

MOST_ADDRESSES = 512
"""The most of one question."""

LARGEST_QUESTION = 64 << 10
LARGEST_ANSWER = 8 << 20
MOST_FRAMES = 64 * MOST_ADDRESSES
LONGEST_TEXT = 4096
_BUILD_ID = re.compile("(?:[0-9a-f]{2}){0,64}")

Note = Literal["go_too_old", "go_damaged", "no_inlines", "too_much", "hidden", "no_elf"]
"""no_inlines: a Go program in which calls that were inlined cannot be told. too_much: the file led
us from place to place until the effort was spent. hidden: the kernel shows no addresses."""


@dataclass(frozen=True, slots=True)
class SymbolQuestion:
    """About the file that comes with it: an executable, or the kernel's list of symbols."""

    kernel: bool
    places: tuple[int, ...] = ()
    """Offsets in the file; addresses where the kernel is asked."""
    depths: tuple[int, ...] = ()
    """Places of which the depth of the stack is asked, too."""


@dataclass(frozen=True, slots=True)
class SymbolAnswer:
    frames: tuple[Frame, ...] = ()
    places: tuple[tuple[int, ...] | None, ...] = ()
    """For each place asked, in `frames`, the innermost first; None where nothing is known."""
    depths: tuple[int, ...] = ()
    """-1 where it is not known."""
    text: tuple[int, int] | None = None
    """Where the code of a Go program begins and ends, as offsets in the file."""
    notes: tuple[Note, ...] = field(default=())
    build_id: str = ""
    """Hexadecimal digits."""
    shift: int = 0
    """How much more than their places in the file the addresses of its code are."""


def encode_question(question: SymbolQuestion) -> bytes:
    return json.dumps([question.kernel, question.places, question.depths]).encode()


def decode_question(content: bytes) -> SymbolQuestion:
    """Written by us."""
    kernel, places, depths = json.loads(content)
    return SymbolQuestion(bool(kernel), tuple(places), tuple(depths))


def encode_answer(answer: SymbolAnswer) -> bytes:
    frames = [
        [one.function, one.file, one.line, one.start_line, one.kind, one.inlined]
        for one in answer.frames
    ]
    said = [
        frames,
        answer.places,
        answer.depths,
        answer.text,
        answer.notes,
        answer.build_id,
        answer.shift,
    ]
    return json.dumps(said).encode()


def decode_answer(content: bytes, question: SymbolQuestion) -> SymbolAnswer:
    if len(content) > LARGEST_ANSWER:
        raise InvalidAnswerError("the answer is too long")
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise InvalidAnswerError("the answer is not JSON") from None
    frames, places, depths, text, notes, build_id, shift = _list(value, 7, exactly=True)
    known = tuple(_frame(one) for one in _list(frames, MOST_FRAMES))
    asked_places = _list(places, len(question.places), exactly=True)
    asked_depths = _list(depths, len(question.depths), exactly=True)
    return SymbolAnswer(
        known,
        tuple(None if one is None else _stack(one, len(known)) for one in asked_places),
        tuple(_whole(one, -(1 << 31), 1 << 31) for one in asked_depths),
        None if text is None else _range(text),
        tuple(_note(one) for one in _list(notes, len(get_args(Note)))),
        _digits(build_id),
        _whole(shift, 0, 1 << 62),
    )


def _frame(value: object) -> Frame:
    function, file, line, start_line, kind, inlined = _list(value, 6, exactly=True)
    if kind not in get_args(FrameKind) or not isinstance(inlined, bool):
        raise InvalidAnswerError("expected a kind of frame")
    return Frame(
        _text(function),
        _text(file),
        _whole(line, 0, 1 << 32),
        _whole(start_line, 0, 1 << 32),
        cast("FrameKind", kind),
        inlined,
    )


def _stack(value: object, frames: int) -> tuple[int, ...]:
    return tuple(_whole(one, 0, frames - 1) for one in _list(value, MOST_FRAMES))


def _range(value: object) -> tuple[int, int]:
    first, end = (_whole(one, 0, 1 << 62) for one in _list(value, 2, exactly=True))
    if first >= end:
        raise InvalidAnswerError("expected a range")
    return first, end


def _note(value: object) -> Note:
    if not isinstance(value, str) or value not in get_args(Note):
        raise InvalidAnswerError("expected a note that we know")
    return cast("Note", value)


def _digits(value: object) -> str:
    if not isinstance(value, str) or not _BUILD_ID.fullmatch(value):
        raise InvalidAnswerError("expected hexadecimal digits")
    return value


def _list(value: object, most: int, *, exactly: bool = False) -> Sequence[object]:
    if not isinstance(value, list) or len(value) > most or (exactly and len(value) != most):
        raise InvalidAnswerError("expected a list of another length")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise InvalidAnswerError("expected a text")
    return value


def _whole(value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise InvalidAnswerError("expected a number within its bounds")
    return value
