"""Profiles as /api/v1 shows them."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec
from nemutator_common import names
from nemutator_common.profiles import pprof
from nemutator_common.profiles.grade import Grade, breaks, sentence
from nemutator_common.profiles.heap import HeapProfile
from nemutator_common.profiles.model import Profile, Weighed
from nemutator_common.wire import ProfileMeasure

from nemutator_controller.profiles.records import ProfileRecord

NamedProfile: TypeAlias = Profile | HeapProfile | Weighed

_DECODERS: dict[ProfileMeasure, Callable[[bytes], NamedProfile]] = {
    "cpu": pprof.decode,
    "heap": pprof.decode_heap,
    "off-cpu": pprof.decode_off_cpu,
}


def profile_document(profile: ProfileRecord, *, link: str, now: float) -> dict[str, object]:
    """All that is known of *profile* by *now*; *link* is where its flame graph is, once it is done."""
    shown: dict[str, object] = msgspec.to_builtins(profile)
    done = profile.state == "done"
    return {
        "apiVersion": names.API_VERSION,
        "kind": "Profile",
        **shown,
        "grade": None if profile.grade is None else _graded(profile, profile.grade),
        "title": profile.title,
        "workload": profile.workload,
        "link": link if done else None,
        "left_s": profile.left_s(now),
    }


def _graded(profile: ProfileRecord, grade: Grade) -> dict[str, object]:
    said = sentence(grade, recorded=profile.recorded, lost=sum(profile.lost.values()))
    shown: dict[str, object] = msgspec.to_builtins(grade)
    return shown | {"summary": said, "breaks": breaks(grade)}


def list_document(
    profiles: Iterable[ProfileRecord], links: Iterable[str], *, now: float
) -> dict[str, object]:
    pairs = zip(profiles, links, strict=True)
    items = [profile_document(profile, link=link, now=now) for profile, link in pairs]
    return {"apiVersion": names.API_VERSION, "kind": "ProfileList", "items": items}


def decoded(content: bytes, measure: ProfileMeasure) -> NamedProfile:
    """The profile as it travels and is stored. Raises MalformedProfileError, also when it is a
    profile of another measure."""
    return _DECODERS[measure](content)
