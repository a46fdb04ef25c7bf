"""The file format of speedscope, a viewer that many people have open already."""

import json

from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile
from nemutator_common.profiles.sums import AnyProfile

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_UNITS = ("bytes", "nanoseconds", "microseconds", "milliseconds", "seconds")
"""The units that it knows; all else is counted."""


def render(profile: AnyProfile, *, title: str) -> str:
    """All stacks with their weights, in the order of the profile."""
    unit, by = _unit(profile)
    weights = [weight * by for _, weight in profile.stacks]
    shown = {
        "type": "sampled",
        "name": title,
        "unit": unit,
        "startValue": 0,
        "endValue": sum(weights),
        "samples": [list(reversed(stack)) for stack, _ in profile.stacks],
        "weights": weights,
    }
    frames = [
        {"name": one.function or "[unknown]"}
        | ({"file": one.file} if one.file else {})
        | ({"line": one.line} if one.line else {})
        for one in profile.frames
    ]
    document = {
        "$schema": _SCHEMA,
        "name": title,
        "activeProfileIndex": 0,
        "exporter": "nemutator",
        "shared": {"frames": frames},
        "profiles": [shown],
    }
    return json.dumps(document, separators=(",", ":"))


def _unit(profile: AnyProfile) -> tuple[str, int]:
    match profile:
        case Profile():
            return "nanoseconds", round(1_000_000_000 / profile.hz)
        case HeapProfile():
            return "bytes", 1
        case _:
            return (profile.unit if profile.unit in _UNITS else "none"), 1
