"""A finished profile for people: is it complete, and where was the time spent?"""

from collections.abc import Iterable, Sequence

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.profiles.grade import Grade, breaks, sentence
from nemutator_common.profiles.model import Share

from nemutator_ctl.function_table import amounts_of, function_table
from nemutator_ctl.profiles.requests import ShownProfile
from nemutator_ctl.terminal_text import visible

LONG_S = 10.0
"""After the time of sampling, most profiles are here within this."""


def progress(profile: ShownProfile, *, waited_s: float) -> str:
    """One line while it is not finished."""
    title = visible(profile.title, limit=60)
    if profile.state == "asked":
        return f"{title}: waiting for its agent, {waited_s:.0f} s"
    if profile.phase == "preparing" and profile.measure != "heap":
        return f"{title}: its agent prepares to sample, {waited_s:.0f} s"
    if profile.phase == "symbolising":
        found = f"{profile.recorded} samples"
        if profile.measure == "off-cpu":
            found = f"{amounts_of('nanoseconds')(profile.recorded)} off the CPU"
        return f"{title}: {found}, looking up names, {waited_s:.0f} s"
    how = f"sampling {profile.seconds:g} s at {profile.hz} Hz"
    if profile.measure == "off-cpu":
        how = f"timing waits for {profile.seconds:g} s"
    if profile.left_s:
        return f"{title}: {how}, {profile.left_s:.0f} s left"
    if waited_s > profile.seconds + LONG_S:
        return (
            f"{title}: late; its agent looks up names, or was started anew and makes it once more,"
            f" {waited_s:.0f} s"
        )
    if profile.measure == "heap":
        return f"{title}: reading its heap, {waited_s:.0f} s"
    return f"{title}: {how}, {waited_s:.0f} s"


def view(
    profile: ShownProfile,
    functions: Sequence[Share],
    *,
    signing_in: str,
    grade: Grade | None = None,
) -> str:
    head = "\n".join([*_head(profile, grade), ""])
    return head + _functions(functions) + flame_graph(profile, signing_in)


def _head(profile: ShownProfile, grade: Grade | None) -> Iterable[str]:
    yield (
        f"{visible(profile.title, limit=100)}: {profile.recorded} samples in"
        f" {profile.seconds:.1f} s at {profile.hz} Hz"
    )
    lost = sum(profile.lost.values())
    reasons = ", ".join(
        f"{visible(reason, limit=40)} {count}" for reason, count in profile.lost.items() if count
    )
    yield f"  lost: {lost}" + (f" ({reasons})" if reasons else "")
    if profile.cpu_seconds is not None:
        sampled_s = (profile.recorded + lost) / max(profile.hz, 1)
        yield (
            f"  account: the kernel counted {profile.cpu_seconds:.2f} s of CPU time,"
            f" the samples say {sampled_s:.2f} s"
        )
    if grade is not None and (said := sentence(grade, recorded=profile.recorded, lost=lost)):
        yield f"  grade: {said}"
        if grade.broken:
            yield f"  short of their root: {breaks(grade)}"
    for note in profile.notes:
        yield f"  note: {visible(note, limit=200)}"


def _functions(functions: Sequence[Share]) -> str:
    total = sum(function.flat for function in functions)
    if not total:
        return "It used no CPU time that was sampled.\n"
    return function_table(functions, total)


def flame_graph(profile: ShownProfile, signing_in: str) -> str:
    """Where it is; nothing when the brain does not say."""
    if profile.link is None or not profile.link.isascii() or not profile.link.isprintable():
        return ""
    return f"\nflame graph: {profile.link}\n  ({signing_in}, if this browser is new here)\n"


def unmade(profile: ShownProfile) -> OperatorError:
    """Why there is no profile, and what can be done about it."""
    title, why = visible(profile.title, limit=100), visible(profile.reason, limit=500)
    return OperatorError(
        f"no profile of {title}: {profile.state}" + (f", {why}" if why else ""),
        remedy=visible(profile.remedy, limit=500) or "ask again, or look at the log of its agent",
        code=ExitCode.FAILED,
    )
