"""/proc/PID/maps, and the files in it, by the only names that a process cannot forge.

A path in the list of mappings belongs to the process's own mount namespace and is never opened:
`map_files` leads to the file that is mapped, whatever its path names by now.
"""

import contextlib
import functools
import os
import stat
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from nemutator_agent.inspection.failures import HiddenFileError, ProcessGoneError
from nemutator_agent.inspection.identities import FileId
from nemutator_agent.inspection.opening_thread import OpeningThread
from nemutator_agent.profiler.cpu_time import parse_process_image
from nemutator_agent.profiler.symbols.mappings import LARGEST, Mapping, Mappings, OpenFile, parse
from nemutator_agent.profiler.symbols.target_files import open_first, open_perf_map
from nemutator_agent.profiler.symbols.vdso import NAME, is_same, own_vdso

_MOST_THREADS = 64
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class ProcMaps:
    """Opens in a thread of its own, with a deadline."""

    def __init__(self, *, root: Path = Path("/"), open_s: float = 20.0) -> None:
        self._proc = root / "proc"
        self._lists: OpeningThread[Mappings] = OpeningThread(
            deadline_s=open_s, close=lambda mappings: None
        )
        self._files: OpeningThread[OpenFile] = OpeningThread(deadline_s=open_s, close=self.close)
        self._vdso: tuple[int, int] | None = None
        """Our own, once it was asked for: an open file, and its size."""

    async def mappings(self, pid: int) -> Mappings:
        return await self._lists.do(functools.partial(self._mappings, pid))

    async def open(self, pid: int, mapping: Mapping) -> OpenFile:
        return await self._files.do(functools.partial(self._open, pid, mapping))

    async def open_perf_map(self, pid: int) -> OpenFile:
        return await self._files.do(functools.partial(self._perf_map, pid))

    async def open_first(self, pid: int, paths: Sequence[str]) -> OpenFile:
        return await self._files.do(functools.partial(self._first, pid, paths))

    async def open_kernel(self) -> OpenFile:
        return await self._files.do(functools.partial(self._opened, self._proc / "kallsyms"))

    def close(self, file: OpenFile) -> None:
        os.close(file.file)

    def _process(self, pid: int) -> Path:
        """Its folder; that of another of its threads where the first one has ended, which has no memory
        any more."""
        process = self._proc / str(pid)
        try:
            os.readlink(process / "exe")
        except FileNotFoundError:
            with contextlib.suppress(OSError):
                for thread in islice(os.listdir(process / "task"), _MOST_THREADS):
                    # Beside that of the process: only there are the files that it maps.
                    other = self._proc / thread
                    if thread != str(pid) and os.path.lexists(other / "exe"):
                        return other
        except OSError:
            pass
        return process

    def _mappings(self, pid: int) -> Mappings:
        try:
            with (self._process(pid) / "maps").open("rb") as file:
                content = file.read(LARGEST)
        except PermissionError:
            raise HiddenFileError from None
        except OSError:
            raise ProcessGoneError from None
        if not content:
            # The process has ended, and its parent has not waited for it yet.
            raise ProcessGoneError
        # Afterwards: if another program came meanwhile, its image differs, and nothing is used.
        return parse(content, image=self._image(pid))

    def _image(self, pid: int) -> int:
        try:
            return parse_process_image((self._process(pid) / "stat").read_bytes())
        except OSError:
            raise ProcessGoneError from None

    def _perf_map(self, pid: int) -> OpenFile:
        return self._identified(open_perf_map(self._process(pid)))

    def _first(self, pid: int, paths: Sequence[str]) -> OpenFile:
        return self._identified(open_first(self._process(pid), paths))

    def _open(self, pid: int, mapping: Mapping) -> OpenFile:
        if mapping.named == NAME:
            self._vdso = self._vdso or own_vdso()
            if self._vdso is None or not is_same(mapping, self._vdso[1]):
                raise ProcessGoneError
            return self._identified(os.dup(self._vdso[0]))
        process = self._process(pid)
        try:
            return self._opened(process / "map_files" / f"{mapping.start:x}-{mapping.end:x}")
        except HiddenFileError:
            # map_files needs a capability that a process's own executable does not.
            with contextlib.suppress(OSError):
                if os.readlink(process / "exe") == mapping.path:
                    return self._opened(process / "exe")
            raise

    def _opened(self, path: Path) -> OpenFile:
        try:
            # Not blocking: it could be a pipe, whose reader would wait for ever.
            file = os.open(path, _FLAGS)
        except PermissionError:
            raise HiddenFileError from None
        except OSError:
            raise ProcessGoneError from None
        return self._identified(file)

    def _identified(self, file: int) -> OpenFile:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            os.close(file)
            raise HiddenFileError
        identity = FileId(status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)
        return OpenFile(file, identity)
