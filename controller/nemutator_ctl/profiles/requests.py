"""What is typed after `nemutator profile`, and what the brain answers, as values."""

import math
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Literal

from msgspec import Meta
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.answers import Amount, understood
from nemutator_ctl.terminal_text import visible

PATH = "/api/v1/profiles"

_UID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32}")

RENDERINGS = {".pb.gz": "pprof", ".folded": "folded", ".html": "flamegraph"}
"""End of a file's name → what is saved in it."""


Count = Annotated[int, Meta(ge=0, lt=1 << 60)]


@dataclass(frozen=True, slots=True)
class ShownProfile:
    # It becomes a part of paths that are asked for next.
    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9]+\Z")]
    title: str
    state: str
    reason: str
    remedy: str
    seconds: Amount
    hz: Count
    recorded: Count
    lost: dict[str, Count]
    cpu_seconds: Amount | None
    notes: tuple[str, ...]
    link: str | None
    measure: Literal["cpu", "heap", "off-cpu"] = "cpu"
    phase: str = ""
    left_s: Amount | None = None

    @property
    def is_open(self) -> bool:
        return self.state in ("asked", "running")


def target(text: str, node: str | None) -> dict[str, str]:
    """`pid:123`, `cgroup:/path`, `unit:NAME`, a pod as `NAMESPACE/NAME` or by its uid, or any name."""
    kind, colon, value = text.partition(":")
    if not colon or kind not in ("pid", "cgroup", "pod", "unit", "name"):
        is_pod = "/" in text or _UID.fullmatch(text)
        kind, value = "pod" if is_pod else "name", text
    if not value:
        raise OperatorError(
            f"{text!r} names nothing to profile",
            remedy="write pid:123, cgroup:/path, NAMESPACE/POD or a name",
            code=ExitCode.USAGE,
        )
    return {"kind": kind, "value": value} | ({} if node is None else {"node": node})


def seconds(text: str) -> float:
    """A number that can be sent; the brain decides whether it allows a profile of that length."""
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
        f"{file.name}: the end of the name decides what is saved, and this one is not known",
        remedy=f"end it in {', '.join(RENDERINGS)}",
        code=ExitCode.USAGE,
    )


def decode(document: object) -> ShownProfile:
    """The profile in *document*, or an `OperatorError` when there is none."""
    return understood(document, ShownProfile, "a profile")
