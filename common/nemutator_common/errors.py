"""Errors that a person must act on, and how our processes report them when they end.

Most errors are handled where they happen. `OperatorError` is for the rest: a process cannot go on
until somebody changes something, so the message names what is wrong and the remedy, and the exit
code shows a script (and `nemutator up`) which kind it was. Only `launching.py` turns it into an
exit.
"""

import enum
from typing import Self


class ExitCode(enum.IntEnum):
    """Every exit code of every command, with its meaning; docs/reference.md is made from here."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        code = int.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code

    OK = 0, "done"
    FAILED = 1, "the command ran, and the answer is no (doctor: something is missing)"
    USAGE = 2, "the command line is wrong"
    SETTINGS = 3, "a setting is unknown or has a bad value; all of them are listed at once"
    ALREADY_RUNNING = 4, "another nemutator runs on this data directory"
    ADDRESS_IN_USE = 5, "an address to listen on is taken or not allowed"
    DATA_DIRECTORY = 6, "the data directory cannot be used: missing right, full, or read-only"
    DATABASE = 7, "the database is damaged, from a newer version, or does not let us in"
    CHILD_DIED = 8, "a process that `nemutator up` supervises cannot be kept running"
    UNREACHABLE = (
        9,
        "no controller answers, or it does not accept this caller; of a brain: PostgreSQL does not answer",
    )
    NO_SPACE = 10, "nothing can be stored: a disk is full; the message names the directory"
    INTERNAL = 70, "a defect of nemutator itself; the log has the traceback"
    NOT_STARTED = (
        125,
        "`nemutator exec` did not start its command: the message says what is missing",
    )


PERMANENT = frozenset(
    {
        ExitCode.USAGE,
        ExitCode.SETTINGS,
        ExitCode.ALREADY_RUNNING,
        ExitCode.ADDRESS_IN_USE,
        ExitCode.DATA_DIRECTORY,
        ExitCode.DATABASE,
    }
)
"""Codes after which a restart of the same process cannot help, so a supervisor stops trying."""


class OperatorError(Exception):
    """A person must act: *what* says what is wrong, and *remedy* says what to do about it."""

    def __init__(self, what: str, *, remedy: str, code: ExitCode) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy
        self.code = code

    def __str__(self) -> str:
        return f"{self.what}\n  remedy: {self.remedy}"
