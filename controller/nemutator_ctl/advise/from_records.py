"""Advice from what somebody else has recorded: no brain is asked, and nothing has to be installed."""

import argparse
import asyncio
import math
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_controller.sizing.documents import Advice, AdviceList, advice_list
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.ports import SourceRequests, UsageSource
from nemutator_controller.sizing.sources.queries import WINDOW_S
from nemutator_controller.sizing.sources.recorded_steps import SourceUnavailableError
from nemutator_controller.sizing.sources.side_by_side import (
    PodMatrices,
    TooMuchRecordedError,
    by_strategy,
)
from nemutator_controller.sizing.sources.source_samples import samples_of
from nemutator_controller.sizing.usages import Usages

from nemutator_ctl.advise.options import OURS
from nemutator_ctl.terminal_text import visible

MOST_CONTAINERS = 200_000
DAY_S = 86_400
LONGEST_FILE = 64 << 10


class ReadUsage(UsageSource, SourceRequests, Protocol):
    @property
    def owners(self) -> NamedOwners: ...

    @property
    def warnings(self) -> list[str]:
        """What it says of its own answers, for people."""
        ...


Recommend = Callable[[float, float], Awaitable[list[Advice]]]


def recommended(given: argparse.Namespace, recommend: Recommend, *, remedy: str) -> list[Advice]:
    """What *recommend* makes of the time from its first to its second argument, or an `OperatorError` for people."""
    if not 1 <= given.days <= 14:
        raise refused(f"--days {given.days}", "name 1 to 14")
    now = time.time()
    begin = (now - given.days * DAY_S) // WINDOW_S * WINDOW_S

    async def run() -> list[Advice]:
        return await recommend(begin, now)

    try:
        return asyncio.run(run())
    except SourceUnavailableError as error:
        raise OperatorError(
            visible(str(error), limit=400), remedy=remedy, code=ExitCode.UNREACHABLE
        ) from error
    except TooMuchRecordedError as error:
        raise refused(str(error), "narrow it with -n NAMESPACE, or with fewer --days") from error


async def advice_from(
    reading: ReadUsage, strategy: str, *, begin: float, now: float
) -> list[Advice]:
    owners, usages = reading.owners, Usages(most=MOST_CONTAINERS)
    count = int((now - begin) // WINDOW_S)
    matrices = None if strategy == OURS else PodMatrices(begin, WINDOW_S, count)
    left: dict[str, int] = {}
    async for steps in reading.steps(begin=begin, end=now):
        found = samples_of(steps, owners, now=now, before=lambda _: math.inf)
        usages.learn(found.samples, now=now)
        for reason, number in found.dropped.items():
            left[reason] = left.get(reason, 0) + number
        if matrices is not None:
            matrices.take(steps, owners)
    requested = await reading.requested()
    _say(reading, left)
    seen = usages.columns(usages.keys(), now=now)
    advice = advice_list(seen, requested, _NothingGrows(), now=now)
    return advice if matrices is None else by_strategy(advice, matrices, strategy)


class _NothingGrows:
    """A `GrowingMemory`: of ageing, others know nothing."""

    def of(self, key: ContainerKey) -> str | None:
        return None


def _say(reading: ReadUsage, dropped: Mapping[str, int]) -> None:
    counts = dict(reading.dropped)
    for reason, number in dropped.items():
        counts[reason] = counts.get(reason, 0) + number
    if counts:
        said = ", ".join(f"{number} {why}" for why, number in sorted(counts.items()))
        sys.stderr.write(f"nemutator: samples left out: {said}\n")
    for one in reading.warnings:
        sys.stderr.write(f"nemutator: it warns: {visible(one, limit=300)}\n")
    if not reading.owners.pods:
        sys.stderr.write(
            "nemutator: it does not say whose pods are: workloads are guessed from names of pods\n"
        )


def word_in(file: Path) -> str:
    """A secret that is sent in a header."""
    return header(content_of(file))


def content_of(file: Path) -> str:
    try:
        return file.read_text()[:LONGEST_FILE].strip()
    except (OSError, ValueError) as error:
        raise refused(f"{file} cannot be read", "name a file that this user can read") from error


def header(text: str) -> str:
    # Only a word may get into a header: another file, such as a private key, must not be sent.
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise refused(
            "what would be sent is no token", "name a file that holds one, and nothing else"
        )
    return text


def refused(what: str, remedy: str) -> OperatorError:
    return OperatorError(what, remedy=remedy, code=ExitCode.USAGE)


def document_of(advice: list[Advice]) -> Any:
    return msgspec.to_builtins(AdviceList(items=advice))
