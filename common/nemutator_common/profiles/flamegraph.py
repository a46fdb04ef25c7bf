"""The flame graph: one HTML file that needs no other, whether it comes from disk or the console.

It runs under the strictest policy that still lets it work: only its own script and style, and no
connection to anywhere. Names come from the profiled program, so they are embedded as data and
reach the page only as text.
"""

import base64
import dataclasses
import hashlib
import html
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from nemutator_common.profiles.difference import Difference
from nemutator_common.profiles.flame_layout import KINDS, boxes, embedded, short
from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile, WeighedStacks
from nemutator_common.profiles.sums import AnyProfile

_PAGE = Path(__file__).parent / "page"
_TEMPLATE = (_PAGE / "flamegraph.html").read_text("utf-8")
_SCRIPTS = ("words", "tree", "picture", "table", "flamegraph")
"""What the page's script is put together from: each may use those before it, and nobody else."""

_SCRIPT = "\n".join(
    ['"use strict";', "{", *((_PAGE / f"{one}.js").read_text("utf-8") for one in _SCRIPTS), "}"]
)
_STYLE = (_PAGE / "flamegraph.css").read_text("utf-8")


def _source(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


LARGEST = 1_000_000
"""Characters of the whole page, however large the profile is."""

MOST_NOTES = 50
MOST_LABELS = 20

_POLICY = (
    f"default-src 'none'; script-src {_source(_SCRIPT)}; style-src {_source(_STYLE)};"
    " base-uri 'none'; form-action 'none'"
)

FRAME = len(_TEMPLATE) + len(_SCRIPT) + len(_STYLE) + 2 * len(_POLICY) + 500
"""Characters of a page without anything in it."""

CONTENT_SECURITY_POLICY = f"{_POLICY}; frame-ancestors 'self'"
"""The header to serve the page with. The page repeats what it can, because a file has no header."""


def render(profile: AnyProfile, *, title: str) -> str:
    """The whole page. *title* names what was profiled; a heap is drawn by what is in use."""
    match profile:
        case Profile():
            known = _cpu(profile)
        case HeapProfile():
            known = _heap(profile)
        case _:
            known = {"unit": profile.unit}
    about: dict[str, object] = {
        "startedAt": profile.started_at or None,
        "notes": _notes(profile.notes),
        "labels": {
            short(key): short(value) for key, value in islice(profile.labels.items(), MOST_LABELS)
        },
    }
    return _page(profile, title, about | known)


def render_difference(difference: Difference, *, title: str, before: str, after: str) -> str:
    """The page of two profiles, which *before* and *after* name."""
    about: dict[str, object] = {
        "startedAt": None,
        "notes": [],
        "labels": {},
        "unit": difference.unit,
        "difference": {
            "names": [before, after],
            "sums": [difference.before, difference.after],
            "scale": difference.scale,
            "scaledTo": difference.scaled_to,
        },
    }
    return _page(difference, title, about)


def _page(profile: WeighedStacks, title: str, about: dict[str, object]) -> str:
    title = short(title)
    known = {"title": title, **about, "kinds": KINDS}
    room = LARGEST - FRAME - len(html.escape(title)) - len(embedded(known))
    drawn, left_out = boxes(profile, everything="all", room=room)
    columns = {column.name: getattr(drawn, column.name) for column in dataclasses.fields(drawn)}
    data = known | {"leftOut": left_out} | columns
    parts = {
        "@POLICY@": html.escape(_POLICY, quote=True),
        "@TITLE@": html.escape(title, quote=True),
        "@STYLE@": _STYLE,
        "@DATA@": embedded(data),
        "@SCRIPT@": _SCRIPT,
    }
    # Each placeholder is replaced once, in the template's order, so that a name that looks like a
    # placeholder is not replaced.
    page, rest = [], _TEMPLATE
    for mark, content in parts.items():
        before, _, rest = rest.partition(mark)
        page += [before, content]
    return "".join([*page, rest])


def _notes(notes: Sequence[str]) -> list[str]:
    left = len(notes) - MOST_NOTES
    more = [f"{left} more notes are left out."] if left > 0 else []
    return [short(one) for one in notes[:MOST_NOTES]] + more


def _cpu(profile: Profile) -> dict[str, object]:
    return {
        "unit": "samples",
        "hz": profile.hz,
        "seconds": profile.seconds,
        "recorded": profile.recorded,
        "lost": dict(profile.lost),
        "cpuSeconds": profile.cpu_seconds,
        "sampledCpuSeconds": profile.sampled_cpu_seconds,
    }


def _heap(profile: HeapProfile) -> dict[str, object]:
    return {"unit": "bytes", "rate": profile.rate, "total": profile.total._asdict()}
