"""`nemutator history`, from its command line to its output."""

import argparse
import re
from collections.abc import Sequence

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import arguments
from nemutator_ctl.api import Api
from nemutator_ctl.history.view import (
    LIST_PATH,
    HistoryRowShown,
    decode,
    decode_rows,
    history_path,
    list_view,
    view,
)
from nemutator_ctl.terminal_text import visible

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_NAMED_MOST = 10


def main(argv: Sequence[str]) -> int:
    parser = arguments.parser(
        "history",
        "Show what a workload used, and what its week is usually like.",
        output=True,
        remote=True,
    )
    parser.add_argument(
        "workload",
        nargs="?",
        metavar="WORKLOAD",
        help="its name, KIND/NAME or NAMESPACE/KIND/NAME; without one, all are listed",
    )
    parser.add_argument("-n", "--namespace", help="only this one: a top-level cgroup, off clusters")
    parser.add_argument("-c", "--container", help="which of its containers")
    parser.add_argument(
        "--since",
        type=_seconds,
        default=3600,
        metavar="TIME",
        help="how far back, like 1h; more than 25h needs `brain.prometheus`",
    )
    parser.add_argument(
        "--step", type=_seconds, metavar="TIME", help="what each point stands for: 1m, 5m, 1h"
    )
    arguments.add_cluster(parser)
    given = parser.parse_args(argv)
    brain = arguments.brain(given)
    rows = arguments.of_cluster(given, LIST_PATH)
    if given.workload is None:
        document = brain.get(rows, _in(given.namespace))
        arguments.write(document, given.output, lambda: list_view(decode_rows(document)))
        return ExitCode.OK
    row = _chosen(brain, rows, given)
    query = {"from": f"-{given.since}", "container": row.container}
    if given.step is not None:
        query["step"] = str(given.step)
    document = brain.get(arguments.of_cluster(given, history_path(row)), query)
    arguments.write(document, given.output, lambda: view(decode(document)))
    return ExitCode.OK


def _chosen(brain: Api, rows: str, given: argparse.Namespace) -> HistoryRowShown:
    """The only row that is called so; a message when there is none, or several."""
    # A namespace or a name off clusters may hold anything, also a slash.
    for parts in _readings(given.workload):
        namespace, kind, name = parts
        listed = decode_rows(brain.get(rows, {"name": name, **_in(given.namespace)}))
        found = [
            row
            for row in listed.items
            if namespace in (None, row.namespace)
            and (kind is None or kind.casefold() == row.owner_kind.casefold())
            and given.container in (None, row.container)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            names = [
                f"{one.namespace}/{one.owner_kind}/{one.owner} -c {one.container}" for one in found
            ]
            raise OperatorError(
                f"several are called so: {visible(', '.join(names[:_NAMED_MOST]), limit=600)}",
                remedy="say which one, like NAMESPACE/KIND/NAME -c CONTAINER",
                code=ExitCode.USAGE,
            )
    raise OperatorError(
        f"there is no history of {visible(given.workload, limit=200)}",
        remedy="`nemutator history` lists what there is one of",
        code=ExitCode.FAILED,
    )


def _readings(text: str) -> list[tuple[str | None, str | None, str]]:
    """What *text* may mean, the whole name first."""
    readings: list[tuple[str | None, str | None, str]] = [(None, None, text)]
    match text.split("/"):
        case [kind, name]:
            readings.append((None, kind, name))
        case [*namespace, kind, name] if namespace:
            readings.append(("/".join(namespace) or "/", kind, name))
        case _:
            pass
    return readings


def _in(namespace: str | None) -> dict[str, str]:
    return {} if namespace is None else {"namespace": namespace}


def _seconds(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,6})([smhdw]?)", text)
    if found is None or not int(found[1]):
        raise argparse.ArgumentTypeError(f"expected a time like 30m, 2h, 1d or 3w, got {text!r}")
    return int(found[1]) * _UNITS[found[2] or "s"]
