"""/proc/PID/mem, open for reading alone, of a process that is held by a pidfd.

The kernel decides about access when the file is opened, and the file then belongs to the memory of that
moment: a worker without rights can read it, and after an exec there is nothing more to read.
"""

import functools
import os
import select
from pathlib import Path

from nemutator_agent.inspection.failures import HiddenFileError, KernelThreadError, ProcessGoneError
from nemutator_agent.inspection.opening_thread import OpeningThread
from nemutator_agent.profiler.cpu_time import is_kernel_thread, parse_process_image
from nemutator_agent.profiler.heap.reading import HeldMemory


class ProcMem:
    """Opens in a thread of its own, with a deadline: a process that is in exec makes others wait."""

    def __init__(self, *, root: Path = Path("/"), open_s: float = 20.0) -> None:
        self._proc = root / "proc"
        self._thread: OpeningThread[HeldMemory] = OpeningThread(deadline_s=open_s, close=self.close)

    async def open(self, pid: int) -> HeldMemory:
        return await self._thread.do(functools.partial(self._open, pid))

    def is_there(self, memory: HeldMemory) -> bool:
        try:
            return _is_alive(memory.process) and self._image(memory.pid) == memory.image
        except ProcessGoneError:
            return False

    def close(self, memory: HeldMemory) -> None:
        os.close(memory.file)
        os.close(memory.process)

    def _open(self, pid: int) -> HeldMemory:
        try:
            process = os.pidfd_open(pid)
        except OSError:
            raise ProcessGoneError from None
        try:
            image = self._image(pid)
            file = self._file(pid)
        except BaseException:
            os.close(process)
            raise
        memory = HeldMemory(pid, file, process, image)
        # As long as the process lives, nobody else has its number.
        if not self.is_there(memory):
            self.close(memory)
            raise ProcessGoneError
        return memory

    def _file(self, pid: int) -> int:
        try:
            return os.open(self._proc / str(pid) / "mem", os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError:
            raise HiddenFileError from None
        except OSError:
            raise (KernelThreadError if self._is_kernels(pid) else ProcessGoneError) from None

    def _is_kernels(self, pid: int) -> bool:
        try:
            return is_kernel_thread((self._proc / str(pid) / "stat").read_bytes())
        except OSError:
            return False

    def _image(self, pid: int) -> int:
        try:
            return parse_process_image((self._proc / str(pid) / "stat").read_bytes())
        except OSError:
            raise ProcessGoneError from None


def _is_alive(process: int) -> bool:
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return not poll.poll(0)
