"""Several profiles as one: of replicas, or of one program at several times."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from nemutator_common.profiles.heap import Allocated, HeapProfile
from nemutator_common.profiles.model import (
    FrameTable,
    LabelledStack,
    Profile,
    Stack,
    Weighed,
    WeighedStacks,
    merged,
)
from nemutator_common.profiles.sample_labels import labelled

AnyProfile = Profile | HeapProfile | Weighed

Summed = TypeVar("Summed", Profile, HeapProfile, Weighed)


class NotAlikeError(ValueError):
    """These profiles do not count the same; the message says how they differ."""


def unit_of(profile: AnyProfile) -> str:
    """What its stacks count."""
    match profile:
        case Profile():
            return "samples"
        case HeapProfile():
            return "bytes"
        case Weighed():
            return profile.unit


def summed(profiles: Sequence[AnyProfile]) -> AnyProfile:
    """All of *profiles*, at least one, in one. Raises NotAlikeError."""
    first, *others = profiles
    if not others:
        return first
    cpu = [one for one in profiles if isinstance(one, Profile)]
    heaps = [one for one in profiles if isinstance(one, HeapProfile)]
    weighed = [one for one in profiles if isinstance(one, Weighed)]
    if len(cpu) == len(profiles):
        return _cpu(cpu)
    if len(heaps) == len(profiles):
        return _heaps(heaps)
    if len(weighed) == len(profiles):
        return _weighed(weighed)
    raise NotAlikeError("some are of CPU time, and some of something else")


def _cpu(profiles: Sequence[Profile]) -> Profile:
    rates = sorted({one.hz for one in profiles})
    if len(rates) > 1:
        raise NotAlikeError(f"they were sampled {' and '.join(map(str, rates))} times a second")
    table = FrameTable()
    stacks = merged(row for one in profiles for row in _renumbered(one, table))
    samples, _ = labelled(row for one in profiles for row in _labelled(one, table))
    accounts = [one.cpu_seconds for one in profiles]
    return Profile(
        hz=rates[0],
        started_at=min(one.started_at for one in profiles),
        seconds=sum(one.seconds for one in profiles),
        frames=table.frames,
        stacks=stacks,
        samples=samples,
        recorded=sum(one.recorded for one in profiles),
        lost=_lost(profiles),
        cpu_seconds=None if None in accounts else sum(one or 0.0 for one in accounts),
        notes=_notes(profiles),
        labels=_shared_labels(profiles),
    )


def _lost(profiles: Sequence[Profile]) -> dict[str, int]:
    lost: dict[str, int] = {}
    for one in profiles:
        for reason, count in one.lost.items():
            lost[reason] = lost.get(reason, 0) + count
    return lost


def _heaps(profiles: Sequence[HeapProfile]) -> HeapProfile:
    rates = sorted({one.rate for one in profiles})
    if len(rates) > 1:
        raise NotAlikeError(
            f"one byte of {' and one of '.join(map(str, rates))} was recorded in them"
        )
    table = FrameTable()
    sites: dict[Stack, Allocated] = {}
    for one in profiles:
        numbers = [table.number(frame) for frame in one.frames]
        for stack, allocated in one.sites:
            key = tuple(numbers[number] for number in stack)
            sites[key] = sites.get(key, Allocated()).plus(allocated)
    return HeapProfile(
        started_at=min(one.started_at for one in profiles),
        rate=rates[0],
        frames=table.frames,
        sites=tuple(sites.items()),
        notes=_notes(profiles),
        labels=_shared_labels(profiles),
    )


def _weighed(profiles: Sequence[Weighed]) -> Weighed:
    units = sorted({one.unit for one in profiles})
    if len(units) > 1:
        raise NotAlikeError(f"they count {' and '.join(units)}")
    table = FrameTable()
    stacks = merged(row for one in profiles for row in _renumbered(one, table))
    return Weighed(
        frames=table.frames,
        stacks=stacks,
        unit=units[0],
        started_at=min(one.started_at for one in profiles),
        notes=_notes(profiles),
        labels=_shared_labels(profiles),
    )


def _renumbered(profile: WeighedStacks, table: FrameTable) -> Iterable[tuple[Stack, int]]:
    numbers = [table.number(frame) for frame in profile.frames]
    for stack, weight in profile.stacks:
        yield tuple(numbers[number] for number in stack), weight


def _labelled(profile: Profile, table: FrameTable) -> Iterable[LabelledStack]:
    numbers = [table.number(frame) for frame in profile.frames]
    for stack, count, labels in profile.samples or (
        (stack, count, ()) for stack, count in profile.stacks
    ):
        yield tuple(numbers[number] for number in stack), count, labels


def _notes(profiles: Iterable[AnyProfile]) -> tuple[str, ...]:
    """Each note once, in the order in which they first stand."""
    return tuple(dict.fromkeys(note for one in profiles for note in one.notes))


def _shared_labels(profiles: Sequence[AnyProfile]) -> Mapping[str, str]:
    """What all of them say alike: a label that differs is true of none of the sum."""
    first, *others = profiles
    return {
        key: value
        for key, value in first.labels.items()
        if all(one.labels.get(key) == value for one in others)
    }
