"""Recorded steps as samples that advice is learned from."""

import hashlib
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

import numpy as np

from nemutator_controller.sizing.buckets import Numbers
from nemutator_controller.sizing.histograms import Rows
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.samples import UsageSamples, are_sound
from nemutator_controller.sizing.sources.ports import PodKeys
from nemutator_controller.sizing.sources.recorded_steps import PodContainer, RecordedSteps

UNKNOWN_OWNER, HALF, UNSOUND, KNOWN = "unknown_owner", "half", "unsound", "known"
"""Reasons for which steps are left out: nobody knows whose they are, only CPU or only memory is told, they are of
another time, or what is known already was learned from them."""


@dataclass(frozen=True, slots=True, eq=False)
class SourceSamples:
    samples: UsageSamples
    dropped: Mapping[str, int]


def replica_number(namespace: str, pod: str) -> int:
    name = f"{namespace}\0{pod}".encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little") >> 1 or 1


def samples_of(
    steps: RecordedSteps,
    keys: PodKeys,
    *,
    now: float,
    before: Callable[[ContainerKey], float],
    since: Callable[[ContainerKey], float] = lambda _: float("-inf"),
) -> SourceSamples:
    """Of each container, the steps that lie between *since* and *before*: what is beyond is known already."""
    dropped: dict[str, int] = {}
    numbers: dict[ContainerKey, int] = {}
    parts: list[tuple[int, int, PodContainer, Rows]] = []
    ends: Numbers = steps.begin + steps.step_s * np.arange(1, steps.count + 1, dtype=np.float64)
    begins: Numbers = ends - np.float64(steps.step_s)
    for of in sorted(steps.cores.keys() | steps.memory.keys()):
        cores, memory = steps.cores.get(of), steps.memory.get(of)
        if cores is None or memory is None:
            told = cores if cores is not None else memory
            _count(dropped, HALF, 0 if told is None else int((~np.isnan(told)).sum()))
            continue
        whole = ~np.isnan(cores) & ~np.isnan(memory)
        _count(dropped, HALF, int((np.isnan(cores) ^ np.isnan(memory)).sum()))
        key = keys.of(of.namespace, of.pod, of.container)
        if key is None:
            _count(dropped, UNKNOWN_OWNER, int(whole.sum()))
            continue
        sound = whole & are_sound(begins, ends, cores, memory, now=now)
        _count(dropped, UNSOUND, int((whole & ~sound).sum()))
        new = sound & (ends <= before(key)) & (begins >= since(key))
        _count(dropped, KNOWN, int((sound & ~new).sum()))
        at = np.flatnonzero(new)
        if len(at):
            number = numbers.setdefault(key, len(numbers))
            parts.append((number, replica_number(of.namespace, of.pod), of, at))
    lengths = [len(at) for _, _, _, at in parts]
    where: Rows = np.concatenate([np.zeros(0, dtype=np.intp), *(at for _, _, _, at in parts)])
    count = len(where)
    samples = UsageSamples(
        keys=list(numbers),
        of=np.repeat(np.array([one[0] for one in parts], dtype=np.intp), lengths),
        from_at=begins[where],
        to_at=ends[where],
        cpu_cores=_joined([steps.cores[of][at] for _, _, of, at in parts]),
        memory_bytes=_joined([steps.memory[of][at] for _, _, of, at in parts]),
        replicas=np.repeat(np.array([one[1] for one in parts], dtype=np.int64), lengths),
        throttled=np.full(count, np.nan),
        kills=np.full(count, np.nan),
        requested=np.zeros(count),
    )
    return SourceSamples(samples, dropped)


def _joined(parts: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0), *parts])


def _count(dropped: MutableMapping[str, int], reason: str, number: int) -> None:
    if number:
        dropped[reason] = dropped.get(reason, 0) + number
