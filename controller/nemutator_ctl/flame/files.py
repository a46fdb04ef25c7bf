"""What a profile is saved as."""

from collections.abc import Callable, Mapping
from pathlib import PurePath

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles import flamegraph, folded, pprof, speedscope
from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile
from nemutator_common.profiles.sums import AnyProfile

from nemutator_ctl.terminal_text import visible

Rendering = Callable[[AnyProfile, str], bytes]


def rendering(file: PurePath) -> Rendering:
    """What to write to *file*, by the end of its name."""
    for end, render in RENDERINGS.items():
        if file.name.endswith(end):
            return render
    raise OperatorError(
        f"{file.name}: the end of the name decides what is saved, and this one is not known",
        remedy=f"end it in {', '.join(RENDERINGS)}",
        code=ExitCode.USAGE,
    )


def _pprof(profile: AnyProfile, title: str) -> bytes:
    match profile:
        case Profile():
            return pprof.encode(profile)
        case HeapProfile():
            return pprof.encode_heap(profile)
    raise OperatorError(
        f"{visible(title, limit=200)}: only CPU and heap profiles are written as pprof",
        remedy="save it as .html, .folded or .speedscope.json",
        code=ExitCode.USAGE,
    )


RENDERINGS: Mapping[str, Rendering] = {
    ".html": lambda profile, title: flamegraph.render(profile, title=title).encode(),
    ".folded": lambda profile, _: folded.render(profile).encode(),
    ".speedscope.json": lambda profile, title: speedscope.render(profile, title=title).encode(),
    ".pb.gz": _pprof,
}
"""End of a file's name → what makes its content."""
