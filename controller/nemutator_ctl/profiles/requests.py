"""What is typed after `nemutator profile`, and what the brain answers, as values."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.answers import not_understood
from nemutator_ctl.terminal_text import visible

PATH = "/api/v1/profiles"

RENDERINGS = {".pb.gz": "pprof", ".folded": "folded", ".html": "flamegraph"}
"""End of a file's name → what is saved in it."""


@dataclass(frozen=True, slots=True)
class ShownProfile:
    id: str
    title: str
    state: str
    reason: str
    remedy: str
    seconds: float
    hz: int
    recorded: int
    lost: Mapping[str, int]
    cpu_seconds: float | None
    notes: tuple[str, ...]
    link: str | None

    @property
    def is_open(self) -> bool:
        return self.state in ("asked", "running")


def target(text: str, node: str | None) -> dict[str, str]:
    """`pid:123`, `cgroup:/path`, or a pod as `NAMESPACE/NAME` or by its uid."""
    kind, colon, value = text.partition(":")
    if not colon or kind not in ("pid", "cgroup", "pod"):
        kind, value = "pod", text
    if not value:
        raise OperatorError(
            f"{text!r} names nothing to profile",
            remedy="write pid:123, cgroup:/path or NAMESPACE/POD",
            code=ExitCode.USAGE,
        )
    return {"kind": kind, "value": value} | ({} if node is None else {"node": node})


def seconds(text: str) -> float:
    """A time that can be sent; whether it is one to be profiled for, the brain knows."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise OperatorError(
            f"--seconds {visible(text, limit=40)!r}: expected a number of seconds",
            remedy="write one like 10, or leave it out for 30",
            code=ExitCode.USAGE,
        )
    return value


def rendering(file: PurePath) -> str:
    """What to save in *file*, by the end of its name."""
    for end, what in RENDERINGS.items():
        if file.name.endswith(end):
            return what
    raise OperatorError(
        f"{file.name}: the end of the name says what is saved, and this one says nothing",
        remedy=f"end it in {', '.join(RENDERINGS)}",
        code=ExitCode.USAGE,
    )


def decode(document: object) -> ShownProfile:
    """The profile in *document*, or an `OperatorError` when there is none."""
    try:
        if not isinstance(document, Mapping):
            raise TypeError
        lost, cpu_seconds = document["lost"], document["cpu_seconds"]
        link = document["link"]
        return ShownProfile(
            id=_identity(document["id"]),
            title=str(document["title"]),
            state=str(document["state"]),
            reason=str(document["reason"]),
            remedy=str(document["remedy"]),
            seconds=float(document["seconds"]),
            hz=int(document["hz"]),
            recorded=int(document["recorded"]),
            lost={str(reason): int(count) for reason, count in lost.items()},
            cpu_seconds=None if cpu_seconds is None else float(cpu_seconds),
            notes=tuple(map(str, document["notes"])),
            link=None if link is None else str(link),
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise not_understood(f"no profile ({type(error).__name__})") from error


def _identity(raw: object) -> str:
    # It becomes a part of paths that are asked for next.
    if not isinstance(raw, str) or not raw.isascii() or not raw.isalnum():
        raise ValueError
    return raw
