"""The options that the commands share, spelled as kubectl spells them."""

import argparse
from pathlib import Path

from nemutator_common import data_directory
from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.launching import settings_from

from nemutator_ctl.documents import LARGEST, add_output
from nemutator_ctl.settings import UpSettings


def parser(command: str, summary: str, *, output: bool) -> argparse.ArgumentParser:
    """A parser for one command, with `-o` when it has a document to show."""
    made = argparse.ArgumentParser(
        prog=f"nemutator {command}", description=summary, allow_abbrev=False
    )
    # The same destinations as launching.add_settings, so that settings_from finds them.
    made.add_argument("--config", metavar="FILE", help="settings file (TOML)")
    made.add_argument(
        "--data-dir",
        metavar="DIR",
        dest="setting:data_dir",
        help="the directory of the `nemutator up` that is meant [NEMUTATOR_DATA_DIR]",
    )
    if output:
        add_output(made)
    return made


def directory(arguments: argparse.Namespace) -> DataDirectory:
    """The data directory that *arguments*, the environment and the settings file name."""
    path = settings_from(UpSettings, arguments).values.data_dir
    return data_directory.named(path)


def content(path: Path) -> bytes:
    """What is in the file of documents that an argument names, or an `OperatorError`."""
    try:
        with path.open("rb") as file:
            # One more than may be: who parses it says that it is too much.
            return file.read(LARGEST + 1)
    except OSError as error:
        raise OperatorError(
            f"{path}: {error.strerror or error}",
            remedy="name a file that this user can read",
            code=ExitCode.USAGE,
        ) from error
