"""Names for the addresses of a file: how the worker answers each question about one.

The files of the last questions stay open for more questions about them.
"""

import functools
import os
from collections import OrderedDict

from nemutator_agent.inspection.identities import FileId
from nemutator_agent.inspection.worker import Respond, read_at
from nemutator_agent.profiler.symbols import lookup
from nemutator_agent.profiler.symbols.messages import decode_question, encode_answer

MOST_FILES = 4


class ExaminedFiles:
    """Executables by the identity that they had when they were opened."""

    def __init__(self) -> None:
        self._cache: OrderedDict[FileId, tuple[int, lookup.Executable]] = OrderedDict()

    def respond(self, question: bytes, file: int) -> bytes:
        """Takes *file* over."""
        asked = decode_question(question)
        if asked.id is not None and not asked.kernel and not asked.perf_map:
            return encode_answer(self._get(asked.id, file).answer(asked))
        reading = functools.partial(read_at, file)
        try:
            if asked.kernel:
                return encode_answer(lookup.kernel(reading, asked))
            if asked.perf_map:
                return encode_answer(lookup.compiled(reading, asked))
            return encode_answer(lookup.Executable(reading).answer(asked))
        finally:
            os.close(file)

    def _get(self, key: FileId, file: int) -> lookup.Executable:
        if key in self._cache:
            os.close(file)
            self._cache.move_to_end(key)
        else:
            if len(self._cache) >= MOST_FILES:
                _, (oldest, _) = self._cache.popitem(last=False)
                os.close(oldest)
            self._cache[key] = (file, lookup.Executable(functools.partial(read_at, file)))
        return self._cache[key][1]


def responder() -> Respond:
    return ExaminedFiles().respond
