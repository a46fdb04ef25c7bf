"""The heap profile of a Go process: how the worker answers each question about an open file, which is a
program or the memory of a process."""

import functools
import os

from nemutator_agent.inspection.worker import Respond, read_at
from nemutator_agent.profiler.heap.answers import about_counts, about_memory, about_program
from nemutator_agent.profiler.heap.messages import (
    CountQuestion,
    MemoryQuestion,
    decode_question,
    encode,
)


def respond(question: bytes, file: int) -> bytes:
    asked = decode_question(question)
    reading = functools.partial(read_at, file)
    try:
        if isinstance(asked, MemoryQuestion):
            return encode(about_memory(reading, asked))
        if isinstance(asked, CountQuestion):
            return encode(about_counts(reading, asked))
        return encode(about_program(reading))
    finally:
        os.close(file)


def responder() -> Respond:
    return respond
