"""`nemutator restore`, from its command line to a data directory."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import prepare
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.backup.archives import unpack
from nemutator_ctl.backup.contents import (
    ALONE,
    DATABASE,
    OBJECTS,
    SECRETS,
    SECRETS_KEY,
    About,
    BackupError,
)
from nemutator_ctl.backup.sql import fault_of
from nemutator_ctl.tables import moment
from nemutator_ctl.terminal_text import visible

GIB = 1 << 30


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "restore",
        "Make a data directory of an archive that `nemutator backup` has written, on this machine or another.",
        output=False,
    )
    parser.add_argument("file", metavar="FILE", help="the archive; `-`: standard input")
    parser.add_argument(
        "--largest",
        type=_gibibytes,
        default=4 * GIB,
        metavar="GIB",
        help="refuse an archive that unpacks to more (4)",
    )
    given = parser.parse_args(argv)
    directory = prepare(arguments.directory(given).root)
    _refuse_to_replace(directory)
    try:
        if given.file == "-":
            about = _restored(sys.stdin.buffer, directory, given.largest)
        else:
            with Path(given.file).open("rb") as archive:
                about = _restored(archive, directory, given.largest)
    except BackupError as error:
        raise OperatorError(
            f"{given.file}: {visible(str(error), limit=300)}",
            remedy="name an archive of `nemutator backup`; nothing was changed",
            code=ExitCode.FAILED,
        ) from error
    except OSError as error:
        raise OperatorError(
            f"{error.filename or given.file}: {error.strerror}",
            remedy="name a file that this user can read, and a directory with room",
            code=ExitCode.FAILED,
        ) from error
    made = (
        f"{len(about.files)} files of {visible(about.machine, limit=80)} as of {moment(about.at)}"
    )
    sys.stdout.write(f"{directory.root}: {made}\n")
    if SECRETS in about.files and not (directory.root / SECRETS_KEY).exists():
        sys.stderr.write(
            f"nemutator restore: copy {SECRETS_KEY} from the other directory, which no backup has, or delete"
            f" {SECRETS}: without one of both nobody is given a secret\n"
        )
    return ExitCode.OK


def _gibibytes(text: str) -> int:
    """argparse reports what it raises as an option that is not understood."""
    number = float(text)
    if not 0 < number <= 1024:
        raise ValueError(text)
    return int(number * GIB)


def _refuse_to_replace(directory: DataDirectory) -> None:
    """Nothing that somebody still needs is written over, and no `up` runs where there is no database."""
    for name in (*ALONE, f"{DATABASE}-wal", OBJECTS):
        path = directory.root / name
        if path.is_dir() and not any(path.iterdir()):
            continue
        if path.exists():
            raise OperatorError(
                f"{path} is there already",
                remedy="stop that nemutator and move its directory away, or name another with --data-dir",
                code=ExitCode.DATA_DIRECTORY,
            )


def _restored(archive: IO[bytes], directory: DataDirectory, largest: int) -> About:
    with tempfile.TemporaryDirectory(prefix=".restoring-", dir=directory.root) as made:
        folder = Path(made)
        about = unpack(archive, folder, largest=largest)
        if fault := fault_of(folder / DATABASE):
            raise BackupError(fault)
        if (folder / OBJECTS).is_dir():
            shutil.rmtree(directory.objects, ignore_errors=True)
            (folder / OBJECTS).rename(directory.objects)
        # The database last: what finds it finds all the rest.
        for name in reversed(ALONE):
            if (folder / name).is_file():
                (folder / name).rename(directory.root / name)
    return about
