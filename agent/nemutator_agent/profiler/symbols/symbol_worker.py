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
    """Executables by the identity that they had when they were handed over."""

    def __init__(self) -> None:
        self._cache: OrderedDict[FileId, tuple[int, lookup.Executable]] = OrderedDict()

    def respond(self, question: bytes, file: int) -> bytes:
        asked = decode_question(question)
        if not asked.kernel:
            return encode_answer(self._get(file).answer(asked))
        try:
            return encode_answer(lookup.kernel(functools.partial(read_at, file), asked))
        finally:
            os.close(file)

    def _get(self, file: int) -> lookup.Executable:
        """Takes *file* over."""
        status = os.fstat(file)
        key = FileId(status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)
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
