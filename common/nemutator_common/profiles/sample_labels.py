"""Samples told apart by what they are of: processes, pods, containers; no more than a profile has room for."""

from collections.abc import Iterable

from nemutator_common.profiles.model import LabelledStack, SampleLabels, Stack

MOST_LABELLED = 8192
"""The most samples of one profile that keep their labels: some 100 bytes each."""


def labelled(
    samples: Iterable[LabelledStack], *, most: int = MOST_LABELLED
) -> tuple[tuple[LabelledStack, ...], int]:
    """Equal *samples* as one, and how many lost their labels because they were too many: those that
    were seen least. Nothing where none has any."""
    counts: dict[tuple[Stack, SampleLabels], int] = {}
    for stack, count, labels in samples:
        counts[stack, labels] = counts.get((stack, labels), 0) + count
    with_labels = sorted((key for key in counts if key[1]), key=lambda key: -counts[key])
    if not with_labels:
        return (), 0
    kept = set(with_labels[:most])
    found: dict[tuple[Stack, SampleLabels], int] = {}
    lost = 0
    for (stack, labels), count in counts.items():
        key = (stack, labels if (stack, labels) in kept else ())
        lost += count if labels and not key[1] else 0
        found[key] = found.get(key, 0) + count
    return tuple((stack, count, labels) for (stack, labels), count in found.items()), lost
