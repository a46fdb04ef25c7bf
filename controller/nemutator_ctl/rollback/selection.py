"""Which mutations a command line means, as the query of the brain's list."""

import argparse
import re
from datetime import UTC, datetime

_AGO = re.compile(r"(?P<count>[0-9]{1,6})(?P<unit>[smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

SELECTING = ("namespace", "workload", "policy", "since", "until")
"""Options that narrow what is meant."""


def add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--namespace", metavar="NAMESPACE", help="all in this namespace")
    parser.add_argument(
        "--workload", metavar="KIND/NAME", help="all of this workload or object: Deployment/web"
    )
    parser.add_argument("--policy", metavar="NAME", help="all that this policy has made")
    parser.add_argument(
        "--since",
        metavar="TIME",
        help="all that were made since then: 2h, 2026-01-31T12:00 (UTC), or 2026-01-31T13:00+01:00",
    )
    parser.add_argument("--until", metavar="TIME", help="all that were made before then")
    parser.add_argument("--all", action="store_true", help="all there are")


def is_bulk(given: argparse.Namespace) -> bool:
    return given.all or any(
        (given.namespace, given.workload, given.policy, given.since, given.until)
    )


def query_of(given: argparse.Namespace, now: float) -> dict[str, str]:
    """Raises `ValueError` with what is wrong for people."""
    query = {
        word: str(getattr(given, word))
        for word in ("namespace", "workload", "policy")
        if getattr(given, word)
    }
    if given.workload and not all(given.workload.partition("/")):
        raise ValueError(f"--workload {given.workload!r}: write it as KIND/NAME")
    for word in ("since", "until"):
        if text := getattr(given, word):
            query[word] = repr(moment_of(text, now))
    if {"since", "until"} <= query.keys() and float(query["until"]) <= float(query["since"]):
        raise ValueError("--until is not after --since: write the earlier time as --since")
    return query


def moment_of(text: str, now: float) -> float:
    """Seconds since 1970 of `2h` (ago) or of a date, which is in UTC unless it says otherwise."""
    if ago := _AGO.fullmatch(text):
        return now - int(ago["count"]) * _SECONDS[ago["unit"]]
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r}: write 30m, 2h, 3d, or a date like 2026-01-31T12:00") from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
