"""`nemutator backup`, from its command line to its archive."""

import contextlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from nemutator_common import __version__
from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.backup.archives import described, pack
from nemutator_ctl.backup.contents import ALONE, DATABASE, FORM, OBJECTS, About, is_ours
from nemutator_ctl.backup.sql import NotCopiedError, copy_database


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "backup",
        "Write what the brain of this machine knows into one archive, while it runs: its database, what was"
        " applied, placeholders' values, and the encrypted file of secrets without its key.",
        output=False,
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="where to; `-`: standard output")
    given = parser.parse_args(argv)
    directory = arguments.directory(given)
    if not directory.database.is_file():
        raise OperatorError(
            f"{directory.root} has no {DATABASE}",
            remedy="name the directory of a nemutator with --data-dir; a brain on PostgreSQL is backed up"
            " by pg_dump",
            code=ExitCode.DATA_DIRECTORY,
        )
    where = given.file or f"nemutator-backup-{time.strftime('%Y%m%d-%H%M%S')}.tar.gz"
    with _explained(directory, where):
        _back_up(directory, where)
    return ExitCode.OK


def _back_up(directory: DataDirectory, where: str) -> None:
    # The copy lies beside the archive: there must be room for both there anyway. Where that goes elsewhere, it lies beside
    # the database: in a pod nothing else has as much room.
    beside = directory.root if where == "-" else Path(where).absolute().parent
    with tempfile.TemporaryDirectory(prefix=".nemutator-backup-", dir=beside) as made:
        copy = Path(made) / DATABASE
        copy_database(directory.database.absolute(), copy)
        files = {DATABASE: copy}
        for name in ALONE:
            if name != DATABASE and (directory.root / name).is_file():
                files[name] = directory.root / name
        for path in sorted(directory.objects.glob("*/*/*")):
            name = f"{OBJECTS}/{path.relative_to(directory.objects)}"
            if is_ours(name) and path.is_file() and not path.is_symlink():
                files[name] = path
        about = About(
            form=FORM,
            version=__version__,
            at=round(time.time(), 1),
            machine=platform.node(),
            files={name: described(path) for name, path in files.items()},
        )
        if where == "-":
            pack(about, files, sys.stdout.buffer)
            return
        packed = Path(made) / "packed"
        with open(os.open(packed, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            pack(about, files, file)
            file.flush()
            os.fsync(file.fileno())
        # Whole or not at all, and never over another one.
        os.link(packed, where)
    size = Path(where).stat().st_size
    sys.stderr.write(f"nemutator backup: {len(about.files)} files in {size} bytes\n")
    sys.stdout.write(f"{Path(where).absolute()}\n")


@contextlib.contextmanager
def _explained(directory: DataDirectory, where: str) -> Iterator[None]:
    try:
        yield
    except NotCopiedError as error:
        raise OperatorError(
            f"{directory.database}: {error}",
            remedy="see what the brain says of its database in its log",
            code=ExitCode.DATABASE,
        ) from error
    except OSError as error:
        raise OperatorError(
            f"{error.filename or where}: {error.strerror}",
            remedy="name a file that is not there yet, in a directory with room that you may write",
            code=ExitCode.FAILED,
        ) from error
