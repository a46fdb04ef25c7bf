"""What a pod does not want done to it.

The first nemutator's documents and its code disagreed on which annotation is which; both are
understood, and its spellings of verbs too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_common import names

VERBS = frozenset(
    [
        "annotations",
        "containers",
        "env",
        "image",
        "labels",
        "prom_metrics",
        "resources",
        "selectors",
        "tolerations",
    ]
)
PREVIEW = "patch"
_KNOWN = VERBS | {PREVIEW}
_SPELLINGS = {
    "selector": "selectors",
    "prom_resources": "prom_metrics",
    "toleration": "tolerations",
}
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"", "false", "no", "off", "0"})


@dataclass(frozen=True, slots=True)
class Skips:
    everything: bool = False
    preview: bool = False
    """Compute and log, apply nothing."""
    verbs: frozenset[str] = frozenset()
    unknown: tuple[tuple[str, str], ...] = ()
    """Words that are no verbs, each after the annotation in which it stands."""


def skips_of(annotations: Mapping[str, object]) -> Skips:
    words: set[str] = set()
    unknown: list[tuple[str, str]] = []
    everything = False
    for key in (names.SKIP, names.SKIP_MUTATION):
        text = str(annotations.get(key, ""))[:1024].strip().lower()
        if text in _YES:
            everything = True
        elif text not in _NO:
            listed = {_verb(word) for word in re.split(r"[\s,]+", text) if word}
            # Whoever says `skip` in words that we do not know wants to be left alone all the same.
            everything = everything or (key == names.SKIP and bool(listed - _KNOWN))
            words |= listed
            unknown += ((key, word) for word in sorted(listed - _KNOWN))
    return Skips(
        everything=everything,
        preview=PREVIEW in words,
        verbs=frozenset(words & VERBS),
        unknown=tuple(unknown),
    )


def _verb(word: str) -> str:
    word = word.replace("-", "_")
    return _SPELLINGS.get(word, word)
