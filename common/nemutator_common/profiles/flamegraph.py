"""The flame graph: one HTML file that needs no other, whether it comes from disk or the console.

It runs under the strictest policy that still lets it work: only its own script and style, and no
connection to anywhere. Names come from the profiled program, so they are embedded as data and
reach the page only as text.
"""

import base64
import hashlib
import html
import json
from pathlib import Path

from nemutator_common.profiles.flame_layout import KINDS, boxes
from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile

_PAGE = Path(__file__).parent / "page"
_TEMPLATE = (_PAGE / "flamegraph.html").read_text("utf-8")
_SCRIPT = (_PAGE / "flamegraph.js").read_text("utf-8")
_STYLE = (_PAGE / "flamegraph.css").read_text("utf-8")


def _source(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


_POLICY = (
    f"default-src 'none'; script-src {_source(_SCRIPT)}; style-src {_source(_STYLE)};"
    " base-uri 'none'; form-action 'none'"
)

CONTENT_SECURITY_POLICY = f"{_POLICY}; frame-ancestors 'self'"
"""The header to serve the page with. The page repeats what it can, because a file has no header."""


def render(profile: Profile | HeapProfile, *, title: str) -> str:
    """The whole page. *title* names what was profiled; a heap is drawn by what is in use."""
    drawn, left_out = boxes(profile, everything="all")
    data = {
        "title": title,
        "startedAt": profile.started_at,
        **(_heap(profile) if isinstance(profile, HeapProfile) else _cpu(profile)),
        "notes": list(profile.notes),
        "labels": dict(profile.labels),
        "leftOut": left_out,
        "kinds": KINDS,
        "strings": drawn.strings,
        "depth": drawn.depth,
        "samples": drawn.samples,
        "name": drawn.name,
        "file": drawn.file,
        "line": drawn.line,
        "kind": drawn.kind,
    }
    parts = {
        "@POLICY@": html.escape(_POLICY, quote=True),
        "@TITLE@": html.escape(title, quote=True),
        "@STYLE@": _STYLE,
        "@DATA@": _embedded(data),
        "@SCRIPT@": _SCRIPT,
    }
    # Each placeholder is replaced once, in the template's order, so that a name that looks like a
    # placeholder is not replaced.
    page, rest = [], _TEMPLATE
    for mark, content in parts.items():
        before, _, rest = rest.partition(mark)
        page += [before, content]
    return "".join([*page, rest])


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


def _embedded(data: object) -> str:
    """JSON that cannot end its own element, whatever the names are; it is escaped to ASCII, too."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
