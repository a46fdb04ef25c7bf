"""The mutations that a pod excludes by its annotations.

The documents and the code of the first nemutator disagreed on which annotation is which; both are
understood, and so are its spellings of verbs.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_common import names

VERBS = frozenset(
    [
        "affinity",
        "annotations",
        "automountServiceAccountToken",
        "containers",
        "dnsConfig",
        "emptyDir",
        "enableServiceLinks",
        "env",
        "envFrom",
        "image",
        "imagePullPolicy",
        "imagePullSecrets",
        "labels",
        "nodeSelector",
        "priorityClassName",
        "prom_metrics",
        "resources",
        "runtimeClassName",
        "schedulerName",
        "securityContext",
        "selectors",
        "sidecars",
        "tolerations",
        "topologySpreadConstraints",
        "volumes",
    ]
)
PREVIEW = "patch"
_KNOWN = VERBS | {PREVIEW}


def _bare(word: str) -> str:
    """*word* without case and dashes: `nodeSelector` is also `node-selector`."""
    return word.replace("_", "").replace("-", "").lower()


_SPELLINGS = {
    **{_bare(verb): verb for verb in VERBS},
    **{_bare(verb).removesuffix("s"): verb for verb in VERBS},
    "images": "image",
    "promresources": "prom_metrics",
}
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"", "false", "no", "off", "0"})


@dataclass(frozen=True, slots=True)
class Skips:
    everything: bool = False
    preview: bool = False
    """Whether mutations are computed and logged, but not applied."""
    verbs: frozenset[str] = frozenset()
    unknown: tuple[tuple[str, str], ...] = ()
    """Words that are not verbs, each with its annotation."""


NO_SKIPS = Skips()


def skips_of(annotations: Mapping[str, object]) -> Skips:
    if names.SKIP not in annotations and names.SKIP_MUTATION not in annotations:
        return NO_SKIPS
    words: set[str] = set()
    unknown: list[tuple[str, str]] = []
    everything = False
    for key in (names.SKIP, names.SKIP_MUTATION):
        text = str(annotations.get(key, ""))[:1024].strip().lower()
        if text in _YES:
            everything = True
        elif text not in _NO:
            words_here = (word for word in re.split(r"[\s,]+", text) if word)
            listed = {_SPELLINGS.get(_bare(word), word) for word in words_here}
            # A `skip` in words that we do not know still means that the pod is to be left alone.
            everything = everything or (key == names.SKIP and bool(listed - _KNOWN))
            words |= listed
            unknown += ((key, word) for word in sorted(listed - _KNOWN))
    return Skips(
        everything=everything,
        preview=PREVIEW in words,
        verbs=frozenset(words & VERBS),
        unknown=tuple(unknown),
    )
