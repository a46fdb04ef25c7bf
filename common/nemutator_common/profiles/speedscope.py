"""The file format of speedscope, a viewer that many people have open already.

It takes frames of another line for another function, so a frame has the line at which its function begins.
"""

import json

from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Frame, Profile, merged
from nemutator_common.profiles.sums import AnyProfile

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_UNITS = ("bytes", "nanoseconds", "microseconds", "milliseconds", "seconds")
"""The units that it knows; all else is counted."""


def render(profile: AnyProfile, *, title: str) -> str:
    """All stacks with their weights, in the order of the profile."""
    unit, by = _unit(profile)
    functions: dict[tuple[str, str, int], int] = {}
    of = [functions.setdefault(_function(frame), len(functions)) for frame in profile.frames]
    stacks = merged((tuple(of[one] for one in stack), weight) for stack, weight in profile.stacks)
    weights = [weight * by for _, weight in stacks]
    shown = {
        "type": "sampled",
        "name": title,
        "unit": unit,
        "startValue": 0,
        "endValue": sum(weights),
        "samples": [list(reversed(stack)) for stack, _ in stacks],
        "weights": weights,
    }
    frames = [
        {"name": name} | ({"file": file} if file else {}) | ({"line": line} if line else {})
        for name, file, line in functions
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


def _function(frame: Frame) -> tuple[str, str, int]:
    return frame.function or "[unknown]", frame.file, frame.start_line


def _unit(profile: AnyProfile) -> tuple[str, int]:
    match profile:
        case Profile():
            return "nanoseconds", round(1_000_000_000 / profile.hz)
        case HeapProfile():
            return "bytes", 1
        case _:
            return (profile.unit if profile.unit in _UNITS else "none"), 1
