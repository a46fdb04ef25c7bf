"""Puts nemutator-exec where the containers of the pod can execute it."""

import os
import tempfile
from importlib import resources
from pathlib import Path

from nemutator_common import names

MODE = 0o555
"""For every user of the pod's containers, none of whom can write there."""


class ProgramMissingError(Exception):
    """There is no nemutator-exec for this machine."""


def deliver(folder: Path, machine: str) -> None:
    """Put the program for *machine* (as uname says it) into *folder*, in one step: a container may be
    starting with the one that is there. Raises OSError, ProgramMissingError.
    """
    try:
        program = resources.files("nemutator_init").joinpath(
            "programs", f"{names.EXEC_PROGRAM}.{machine}"
        )
        content = program.read_bytes()
    except FileNotFoundError:
        raise ProgramMissingError from None
    fd, fresh = tempfile.mkstemp(prefix=".", dir=folder)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), MODE)
        Path(fresh).replace(folder / names.EXEC_PROGRAM)
    except BaseException:
        Path(fresh).unlink()
        raise
