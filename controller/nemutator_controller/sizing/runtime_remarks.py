"""What a language's own limits mean for advice, each with a remedy: pure.

Advice is made from what was used. A heap that may grow to 2 GiB uses what it may; one whose limit lies above the
container's is killed before its collector hurries; and a runtime that reads the machine when it starts knows nothing
of a resize.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.sizing.documents import Advice

GO_SHARE = 0.9
"""Of the limit, for Go's heap and stacks; the rest is for what its collector does not count."""
JAVA_SHARE = 0.75
"""Of the limit, for a heap: threads, code and buffers lie outside of it."""
CLOSE = 0.9
"""Of what is allowed, from which on use is what was allowed."""
MANY = 4
"""Times as many threads as cores that are requested."""

_MIB = 1 << 20
_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"([0-9]{1,18})(?:([KMGTkmgt])(?:iB)?|B)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeLimits:
    """What flags say; None: they say nothing of it."""

    go_memory: int | None = None
    go_threads: int | None = None
    java_heap: int | None = None
    java_percent: float | None = None
    java_processors: int | None = None


def limits_of(flags: Iterable[str]) -> RuntimeLimits:
    """Of several of a kind the last one counts, as for Java itself."""
    sizes: dict[str, int] = {}
    percent: float | None = None
    for flag in flags:
        name, _, text = flag.partition("=")
        if name.startswith("-Xmx"):
            name, text = "-Xmx", flag.removeprefix("-Xmx")
        if name == "-XX:MaxRAMPercentage":
            try:
                percent = float(text)
            except ValueError:
                continue
        elif (size := _SIZE.fullmatch(text)) is not None:
            sizes[name] = int(size[1]) * _UNITS[(size[2] or "").upper()]
    heap = max(sizes.get("-Xmx", 0), sizes.get("-XX:MaxHeapSize", 0))
    return RuntimeLimits(
        go_memory=sizes.get("GOMEMLIMIT") or None,
        go_threads=sizes.get("GOMAXPROCS") or None,
        java_heap=heap or None,
        java_percent=percent if percent and 0 < percent <= 100 else None,
        java_processors=sizes.get("-XX:ActiveProcessorCount") or None,
    )


def runtime_remarks(advice: Advice, flags: Iterable[str]) -> list[str]:
    """Sentences for people; none where its flags fit what is advised."""
    limits = limits_of(flags)
    return [*_of_memory(advice, limits), *_of_cpu(advice, limits)]


def _of_memory(advice: Advice, limits: RuntimeLimits) -> Iterator[str]:
    most = _amount(advice.limits.memory or advice.requests.memory)
    peak = advice.use.memory_max
    for flag, allowed, share in (
        ("GOMEMLIMIT", limits.go_memory, GO_SHARE),
        ("-Xmx", limits.java_heap, JAVA_SHARE),
    ):
        if allowed is None:
            continue
        fit = None if most is None else _mib(most * share)
        if most is not None and allowed > most * share:
            yield (
                f"{flag} allows {_mib(allowed)}, and {_mib(most)} are advised: it would be killed before its collector"
                f" holds it back: set {flag} to {fit}, or the policy's min above it"
            )
        elif peak >= CLOSE * allowed:
            yield (
                f"its peak of {_mib(peak)} is what {flag} allows ({_mib(allowed)}): such a heap grows as far as it may,"
                f" so try a smaller {flag} before more is requested"
            )
    if limits.java_percent is not None and limits.java_heap is None:
        yield (
            f"its heap is {limits.java_percent:g} % of the memory limit that it started with: another limit makes"
            " another heap, and a resize in place makes none: set -Xmx, or have it restarted with the limit"
        )


def _of_cpu(advice: Advice, limits: RuntimeLimits) -> Iterator[str]:
    cores = _amount(advice.requests.cpu)
    for flag, threads in (
        ("GOMAXPROCS", limits.go_threads),
        ("-XX:ActiveProcessorCount", limits.java_processors),
    ):
        if threads is None:
            continue
        if advice.use.cpu_p95 >= CLOSE * threads:
            yield (
                f"it uses all of {flag}={threads}: it cannot show that it needs more: raise it to find out"
            )
        elif cores is not None and threads > MANY * max(1, math.ceil(cores)):
            yield (
                f"{flag}={threads} runs {threads} threads at once where {advice.requests.cpu} of CPU are advised: on a"
                f" busy node they wait for each other: set it to {max(1, math.ceil(cores))} or 2 times that"
            )


def _amount(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return parse_quantity(text).nanos / 1e9
    except QuantityError:
        return None


def _mib(size: float) -> str:
    return f"{int(size // _MIB)}MiB"
