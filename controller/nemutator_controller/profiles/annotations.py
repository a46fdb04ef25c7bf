"""Profiles in the annotations of pods: the request in one, the result in another."""

import hashlib
import json
import re
from dataclasses import dataclass

from nemutator_common.wire import ProfileMeasure

from nemutator_controller.profiles.api_requests import (
    DEFAULT_HZ,
    DEFAULT_S,
    InvalidProfileRequestError,
    check_bounds,
)
from nemutator_controller.profiles.records import ProfileRecord

LONGEST_REQUEST = 256
LONGEST_REASON = 300
GRAMMAR = "write it like `cpu 30s at=99hz id=1`, `off-cpu 30s id=1` or `heap id=1`"

_SECONDS = re.compile(r"([0-9]{1,4})s")
_HZ = re.compile(r"at=([0-9]{1,4})hz")
_ID = re.compile(r"id=[A-Za-z0-9._:-]{1,64}")


class InvalidAnnotationError(ValueError):
    """The annotation cannot be understood; GRAMMAR is the remedy."""


@dataclass(frozen=True, slots=True)
class AnnotationRequest:
    seconds: float
    hz: int
    measure: ProfileMeasure = "cpu"


HEAP = AnnotationRequest(0.0, 0, "heap")
"""It is read once: nothing is sampled, for no time."""


def parse(text: str) -> AnnotationRequest:
    """The request in *text*: `cpu`, then in any order `30s`, `at=99hz`, `id=anything`; or `off-cpu`, with
    the same but `at=`; or `heap`, then `id=anything`."""
    if len(text) > LONGEST_REQUEST:
        raise InvalidAnnotationError(f"longer than {LONGEST_REQUEST} characters")
    words = text.split()
    if words[:1] not in (["cpu"], ["off-cpu"], ["heap"]):
        raise InvalidAnnotationError("only `cpu`, `off-cpu` and `heap` can be profiled")
    if words[0] == "heap":
        if len(words) > 2 or not all(map(_ID.fullmatch, words[1:])):
            raise InvalidAnnotationError("`heap` takes nothing but one id=")
        return HEAP
    is_off_cpu = words[0] == "off-cpu"
    seconds, hz = DEFAULT_S, DEFAULT_HZ
    named: set[str] = set()
    for word in words[1:]:
        if match := _SECONDS.fullmatch(word):
            what, seconds = "seconds", float(match[1])
        elif not is_off_cpu and (match := _HZ.fullmatch(word)):
            what, hz = "at=", int(match[1])
        elif _ID.fullmatch(word):
            what = "id="
        else:
            raise InvalidAnnotationError(f"{word[:40]!r} is not understood")
        if what in named:
            raise InvalidAnnotationError(f"{what} is there twice")
        named.add(what)
    try:
        check_bounds(seconds=seconds, hz=hz)
    except InvalidProfileRequestError as wrong:
        raise InvalidAnnotationError(str(wrong)) from wrong
    return (
        AnnotationRequest(seconds, 0, "off-cpu") if is_off_cpu else AnnotationRequest(seconds, hz)
    )


def profile_id(pod_uid: str, text: str) -> str:
    """The same for the same request of the same pod, so that it is never begun twice."""
    return hashlib.blake2b(f"{pod_uid}\0{text}".encode(errors="replace"), digest_size=8).hexdigest()


def result(profile: ProfileRecord, link: str) -> str:
    """What is written to the pod: short, and the same as long as nothing has changed."""
    state: str = profile.state
    if profile.state in ("refused", "lost"):
        why = "; ".join(filter(None, (profile.reason, profile.remedy)))
        state = f"{profile.state}: {why[:LONGEST_REASON]}"
    return json.dumps({"id": profile.id, "state": state, "link": link})


def is_settled(text: str | None, identity: str) -> bool:
    """Whether *text*, a result on a pod, says that the profile *identity* has come to its end."""
    try:
        document = json.loads(text or "")
    except (ValueError, RecursionError):
        return False
    if not isinstance(document, dict) or document.get("id") != identity:
        return False
    return str(document.get("state", "")).startswith(("done", "refused"))
