"""The ways in which a look into a process, a file or a worker's answer fails."""

from typing import Literal


class ProcessGoneError(Exception):
    """The process has ended, or is not the one that was meant, or does not map the file any more."""


class KernelThreadError(ProcessGoneError):
    """It is a thread of the kernel, which has no memory of its own."""


class HiddenFileError(Exception):
    """The kernel does not let us open the file, or it is not a regular one."""


class FileSystemStuckError(Exception):
    """A file system does not answer."""


class InvalidAnswerError(ValueError):
    """The worker's answer does not fit its question: a file that it parsed may have taken it over."""


class WorkerFailedError(Exception):
    """The worker did not answer; the next question starts a new one."""

    def __init__(self, reason: Literal["died", "hung", "slow", "invalid", "unconfined"]) -> None:
        super().__init__(reason)
        self.reason = reason
