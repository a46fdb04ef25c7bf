"""What the worker is asked of a Go program and of its memory, and how little of its answers is believed.

The program or the memory that it parsed may have taken the worker over, so an answer is accepted only
when the question could have it.
"""

import re
from array import array
from collections.abc import Iterator
from typing import Literal, TypeAlias, TypeVar

import msgspec

from nemutator_agent.inspection.failures import InvalidAnswerError
from nemutator_agent.profiler.heap.buckets import LARGEST_COUNT, MOST_SITES, MOST_WORDS, SITE_WORDS
from nemutator_agent.profiler.heap.runtime_variables import MOST_CANDIDATES

_Answer = TypeVar("_Answer")

LARGEST_ANSWER = 12 << 20
_LONGEST_VERSION = 200
_IMAGE = re.compile("(?:[0-9a-f]{2}){0,64}")
_ADDRESS_LIMIT = 1 << 48

ProgramFlaw = Literal["", "not_go", "too_old", "damaged", "too_much"]
MemoryFlaw = Literal["", "no_rate", "off", "not_found", "forged", "torn", "unreadable", "too_much"]


CountFlaw = Literal["", "unknown", "forged", "unreadable", "too_much"]
"""unknown: the program does not show where its runtime counts."""

LARGEST_COUNTED = 1 << 53
"""Larger numbers are not exact as JSON."""


PAUSES_TO_COLLECTIONS = 4104
"""From runtime.memstats.pause_total_ns to numgc: between them are 256 pauses and their 256 ends."""


class CountPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Where Go's runtime counts."""

    goroutines: int
    """runtime.allgs: all that there ever were, as a slice."""
    free: tuple[int, ...]
    """Of runtime.sched: how many have ended and are kept for all processors."""
    system: int
    """Of runtime.sched: how many are the runtime's own."""
    processors: int
    """runtime.allp, a slice of addresses."""
    free_of_processor: int
    """In each: how many ended ones it keeps. No address, but an offset."""
    collections: int
    """runtime.memstats.numgc."""

    def shifted(self, bias: int) -> "CountPlaces":
        return CountPlaces(
            goroutines=self.goroutines + bias,
            free=tuple(one + bias for one in self.free),
            system=self.system + bias,
            processors=self.processors + bias,
            free_of_processor=self.free_of_processor,
            collections=self.collections + bias,
        )

    @property
    def is_possible(self) -> bool:
        addresses = (self.goroutines, *self.free, self.system, self.processors, self.collections)
        return (
            len(self.free) <= MOST_CANDIDATES
            and all(0 < one < _ADDRESS_LIMIT for one in addresses)
            and 0 < self.free_of_processor < _ADDRESS_LIMIT
        )


class ProgramQuestion(msgspec.Struct, frozen=True, tag="program"):
    """Where does this program keep its heap profile?"""


class ProgramAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses are those that the program is linked for."""

    flaw: ProgramFlaw = ""
    version: str = ""
    """Of Go; empty where the program does not carry it."""
    image: str = ""
    """The build id in hexadecimal digits; a digest of the file's head where it has none."""
    text: tuple[int, int] = (0, 1)
    shift: int = 0
    """How much more than their places in the file the addresses of its code are."""
    buckets: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()
    cycles: tuple[int, ...] = ()
    is_linked: bool = False
    counts: CountPlaces | None = None
    """None where they cannot be told for sure."""


class CountQuestion(msgspec.Struct, frozen=True, tag="counts"):
    """What has the runtime of this process counted? Addresses are those of the process."""

    places: CountPlaces


class CountAnswer(msgspec.Struct, frozen=True, kw_only=True):
    flaw: CountFlaw = ""
    goroutines: int = 0
    collections: int = 0
    """That have ended since the process began."""
    pauses_ns: int = 0
    """For which they have stopped it, all together."""


class MemoryQuestion(msgspec.Struct, frozen=True, tag="memory"):
    """Which sites are in the memory of this process? Addresses are those of the process."""

    text: tuple[int, int]
    cycle_words: int
    flag_bits: int
    buckets: tuple[int, ...]
    rates: tuple[int, ...]
    cycles: tuple[int, ...]


class MemoryAnswer(msgspec.Struct, frozen=True, kw_only=True):
    flaw: MemoryFlaw = ""
    what: str = ""
    """What was expected, where it is forged."""
    rate: int = 0
    collections: int = -1
    """As of which garbage collection; -1 where that is not known."""
    sites: bytes = b""
    """Words of 64 bits, as `buckets.Sites` holds them."""
    left_out: bool = False
    unpublished: bool = False
    moved: bool = False
    """A garbage collection ended in each reading: sites may be one apart."""


Question: TypeAlias = ProgramQuestion | MemoryQuestion | CountQuestion

_questions: "msgspec.json.Decoder[Question]" = msgspec.json.Decoder(Question)
_programs = msgspec.json.Decoder(ProgramAnswer)
_counts = msgspec.json.Decoder(CountAnswer)
_memories = msgspec.json.Decoder(MemoryAnswer)


def encode(message: Question | ProgramAnswer | MemoryAnswer | CountAnswer) -> bytes:
    return msgspec.json.encode(message)


def decode_question(content: bytes) -> Question:
    """Questions are our own, so nothing else is expected here."""
    return _questions.decode(content)


def decode_program(content: bytes) -> ProgramAnswer:
    """Raises InvalidAnswerError."""
    answer = _decoded(content, _programs)
    first, end = answer.text
    candidates = (answer.buckets, answer.rates, answer.cycles)
    if not (
        len(answer.version) <= _LONGEST_VERSION
        and _IMAGE.fullmatch(answer.image) is not None
        and 0 <= first < end < _ADDRESS_LIMIT
        and 0 <= answer.shift < _ADDRESS_LIMIT
        and all(len(some) <= MOST_CANDIDATES for some in candidates)
        and all(0 < one < _ADDRESS_LIMIT for some in candidates for one in some)
        and (answer.counts is None or answer.counts.is_possible)
    ):
        raise InvalidAnswerError("the question could not have this answer")
    return answer


def decode_counts(content: bytes) -> CountAnswer:
    """Raises InvalidAnswerError."""
    answer = _decoded(content, _counts)
    counted = (answer.goroutines, answer.collections, answer.pauses_ns)
    if not all(0 <= one < LARGEST_COUNTED for one in counted):
        raise InvalidAnswerError("the question could not have this answer")
    return answer


def decode_memory(content: bytes) -> MemoryAnswer:
    """Raises InvalidAnswerError."""
    answer = _decoded(content, _memories)
    if not (
        len(answer.what) <= _LONGEST_VERSION
        and 0 <= answer.rate < LARGEST_COUNT
        and -1 <= answer.collections < 1 << 32
        and len(answer.sites) <= 8 * MOST_WORDS
        and _is_whole(answer.sites)
    ):
        raise InvalidAnswerError("the question could not have this answer")
    return answer


class CountedSite(msgspec.Struct, frozen=True):
    """As it was recorded: objects and bytes allocated and freed, the innermost address first."""

    allocated: int
    freed: int
    bytes_allocated: int
    bytes_freed: int
    stack: tuple[int, ...]


def sites_of(answer: MemoryAnswer) -> Iterator[CountedSite]:
    words = array("Q", answer.sites)
    at = 0
    while at < len(words):
        allocated, freed, bytes_allocated, bytes_freed, depth = words[at : at + SITE_WORDS]
        at += SITE_WORDS
        stack = tuple(words[at : at + depth])
        yield CountedSite(allocated, freed, bytes_allocated, bytes_freed, stack)
        at += depth


def _is_whole(content: bytes) -> bool:
    """Each site is whole, and its counts could be those of one."""
    if len(content) % 8:
        return False
    words = array("Q", content)
    at = count = 0
    while at + SITE_WORDS <= len(words):
        allocated, freed, bytes_allocated, bytes_freed, depth = words[at : at + SITE_WORDS]
        if not (freed <= allocated < LARGEST_COUNT and bytes_freed <= bytes_allocated):
            return False
        if bytes_allocated >= LARGEST_COUNT:
            return False
        at += SITE_WORDS + depth
        count += 1
    return at == len(words) and count <= MOST_SITES


def _decoded(content: bytes, decoder: "msgspec.json.Decoder[_Answer]") -> _Answer:
    if len(content) > LARGEST_ANSWER:
        raise InvalidAnswerError("the answer is too long")
    try:
        return decoder.decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise InvalidAnswerError("the answer does not have the form of one") from None
