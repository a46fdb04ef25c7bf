"""`nemutator replay`, from its command line to its output. It needs no brain and no cluster."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.sizing.outcomes import MISSED, OOM_DAYS, replay, replay_at
from nemutator_controller.sizing.recordings import (
    Recording,
    UnreadableRecordingError,
    read_recording,
)
from nemutator_controller.sizing.replayed_series import replayed_series
from nemutator_controller.sizing.strategies.known import STRATEGIES, Resource

from nemutator_ctl import arguments
from nemutator_ctl.replay.chart import MOST_CONTAINERS, chart
from nemutator_ctl.replay.sql import is_parquet, read_parquet
from nemutator_ctl.replay.view import document, view
from nemutator_ctl.terminal_text import visible

LARGEST = 512 << 20
HOUR_S = 3600


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "replay",
        "Replay recorded use: what each strategy would have requested, and missed.",
        output=True,
    )
    parser.add_argument(
        "file",
        type=Path,
        metavar="DATA",
        help="CSV with the columns time (seconds since the epoch, or RFC 3339 with its zone), name, pod,"
        " and cpu (cores) or memory (bytes); an answer of Prometheus; what `nemutator history -o json` prints;"
        " or Parquet with the same columns, a file or a folder of them (needs the package duckdb)",
    )
    parser.add_argument(
        "--strategy",
        default="nemutator,krr,vpa",
        metavar="A,B",
        help=f"of {', '.join(STRATEGIES)} (%(default)s)",
    )
    parser.add_argument(
        "--resource", choices=("cpu", "memory"), default="cpu", help="what is sized (cpu)"
    )
    parser.add_argument(
        "--step",
        type=int,
        default=300,
        metavar="SECONDS",
        help="points are put together in steps of so many seconds (%(default)s)",
    )
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw it, too: SVG, which any browser shows"
    )
    given = parser.parse_args(argv)
    names = given.strategy.split(",")
    if unknown := [name for name in names if name not in STRATEGIES]:
        parser.error(f"there is no strategy {unknown[0]!r}: name some of {', '.join(STRATEGIES)}")
    if given.step < 1 or HOUR_S % given.step:
        parser.error(f"--step {given.step}: an hour must be a whole number of steps")
    recording = _recording(given.file, given.resource, given.step)
    missed = MISSED if given.resource == "cpu" else OOM_DAYS
    own = [replay(name, given.resource, recording.uses) for name in names]
    alike = [replay_at(name, given.resource, recording.uses, missed=missed) for name in names]
    found = document(given.resource, recording, own, alike, missed=missed)
    if given.picture is not None:
        lines = replayed_series(names, given.resource, recording.uses, most=MOST_CONTAINERS)
        _save(given.picture, chart(found, lines))
    arguments.write(found, given.output, lambda: view(found))
    return ExitCode.OK


def _save(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OperatorError(
            f"{visible(str(file), limit=200)}: {error.strerror or error}",
            remedy="name a file that this user can write",
            code=ExitCode.USAGE,
        ) from error


def _of_text(file: Path, resource: Resource, step_s: int) -> Recording:
    with file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UnreadableRecordingError(f"larger than {LARGEST >> 20} MiB")
    return read_recording(content, resource, step_s=step_s, now=time.time())


def _recording(file: Path, resource: Resource, step_s: int) -> Recording:
    try:
        if is_parquet(file):
            recording = read_parquet(file, resource, step_s=step_s)
        else:
            recording = _of_text(file, resource, step_s)
        left_out = ", ".join(f"{number} {why}" for why, number in sorted(recording.dropped.items()))
        if not recording.judged:
            why = f"; points left out: {left_out}" if left_out else ""
            raise UnreadableRecordingError(
                f"it has not two hours of {resource} of any container{why}"
            )
    except OSError as error:
        raise OperatorError(
            f"{file}: {error.strerror or error}",
            remedy="name a file that this user can read",
            code=ExitCode.USAGE,
        ) from error
    except UnreadableRecordingError as error:
        raise OperatorError(
            f"{visible(str(file), limit=200)}: {visible(str(error), limit=400)}",
            remedy="see `nemutator replay --help` for what it reads",
            code=ExitCode.USAGE,
        ) from error
    if left_out:
        sys.stderr.write(f"nemutator: points left out: {left_out}\n")
    return recording
