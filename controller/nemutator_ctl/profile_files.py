"""Files of profiles: read, whatever wrote them, and written."""

import os
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles.formats import decode_file
from nemutator_common.profiles.pprof_decoder import LARGEST, MalformedProfileError
from nemutator_common.profiles.sums import AnyProfile

from nemutator_ctl.terminal_text import visible


def read(file: Path) -> AnyProfile:
    """The profile in *file*, or an `OperatorError`."""
    try:
        with file.open("rb") as opened:
            # One byte more than is allowed, so that what is too large is noticed.
            content = opened.read(LARGEST + 1)
    except OSError as error:
        raise OperatorError(
            f"{file}: {error.strerror or error}",
            remedy="name a file that this user can read",
            code=ExitCode.USAGE,
        ) from error
    try:
        return decode_file(content)
    except MalformedProfileError as error:
        raise OperatorError(
            f"{file}: no profile: {visible(str(error), limit=300)}",
            remedy="name a file of pprof, or of folded stacks with a weight at the end of each line",
            code=ExitCode.USAGE,
        ) from error


def check(file: Path) -> None:
    """Raise why *file* cannot be written, as far as that can be known without doing it."""
    folder = file.parent
    if file.is_dir():
        why = "is a directory"
    elif not folder.is_dir():
        why = f"there is no directory {folder}"
    elif not os.access(file if file.exists() else folder, os.W_OK):
        why = "this user may not write it"
    else:
        return
    raise OperatorError(f"{file}: {why}", remedy="name another file with -o", code=ExitCode.USAGE)


def save(file: Path, content: bytes, *, remedy: str) -> str:
    """Write *file*; returns the line that says so. *remedy* is for who cannot."""
    try:
        file.write_bytes(content)
    except OSError as error:
        raise OperatorError(
            f"{file}: {error.strerror}", remedy=remedy, code=ExitCode.FAILED
        ) from error
    return f"saved: {file}\n"
