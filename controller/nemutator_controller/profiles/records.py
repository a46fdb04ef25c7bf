"""One profile from the request to its end, as it is stored and as the API shows it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from nemutator_common.profiles.grade import Grade
from nemutator_common.wire import (
    ProfileMeasure,
    ProfileOutcome,
    ProfilePhase,
    ProfileRequest,
    ProfileTarget,
)

State = Literal["asked", "running", "done", "refused", "lost"]

NOT_TAKEN_S = 60.0
"""How long a profile waits for an agent to ask for work. Agents always ask: after a minute there is
none."""

NOT_BEGUN_S = 900.0
"""Seconds from then on in which it must begin: others may come first in the agent's queue."""

NOT_ENDED_S = 420.0
"""Seconds that it may take besides sampling: agents on slow machines look up names for up to five minutes."""


@dataclass(frozen=True, slots=True)
class PodRef:
    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class KnownPod:
    ref: PodRef
    node: str
    """Empty as long as it is on no node."""
    owner: str = ""
    """What owns it, as `namespace/name`."""


@dataclass(frozen=True, slots=True)
class AnnotatedPod:
    """A pod that bears our annotations, as it is now."""

    ref: PodRef
    node: str
    wanted: str
    """The value of `nemutator.io/profile`."""
    result: str | None
    """The value of `nemutator.io/profile-result`."""
    owner: str = ""
    """What owns it, as `namespace/name`."""


@dataclass(frozen=True, slots=True)
class EndReason:
    """Why a profile is not made, for people, and what they can do about it."""

    reason: str
    remedy: str


class ResultUnwrittenError(Exception):
    """It may succeed later."""


class PushUnavailableError(Exception):
    """The store that the profile is sent to may take it later."""


class PushRefusedError(Exception):
    """It never takes this one."""


@dataclass(frozen=True, slots=True)
class SurplusProfiles:
    """The ids of the oldest finished profiles that make room for others."""

    by_count: tuple[str, ...] = ()
    by_bytes: tuple[str, ...] = ()

    @property
    def identities(self) -> tuple[str, ...]:
        return self.by_count + self.by_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRecord:
    id: str
    node: str
    target: ProfileTarget
    pod: PodRef | None = None
    """The pod that the target is, where that is known."""
    owner: str = ""
    """What owns the pod, as `namespace/name`, where that is known."""
    program: str = ""
    """The name of the process that the target is, where that is known."""
    measure: ProfileMeasure = "cpu"
    seconds: float
    """0 for a heap, as *hz* is."""
    hz: int
    threads: bool = False
    """Whether they are told apart."""
    asked_by: Literal["api", "annotation"] = "api"
    asked_at: float
    state: State = "asked"
    reason: str = ""
    """For people: why it was refused or lost."""
    remedy: str = ""
    """And what they can do about it."""
    taken_at: float | None = None
    ended_at: float | None = None
    started_at: float | None = None
    phase: ProfilePhase = ""
    """What it is at while it is running, as far as its agent says."""
    phase_at: float | None = None
    recorded: int = 0
    lost: Mapping[str, int] = field(default_factory=dict)
    cpu_seconds: float | None = None
    notes: tuple[str, ...] = ()
    grade: Grade | None = None
    bytes: int = 0

    @property
    def is_open(self) -> bool:
        return self.state in ("asked", "running")

    @property
    def request(self) -> ProfileRequest:
        return ProfileRequest(
            id=self.id,
            target=self.target,
            seconds=self.seconds,
            hz=self.hz,
            measure=self.measure,
            threads=self.threads,
        )

    def left_s(self, now: float) -> float | None:
        """For how long it will still be sampled; None: it is not, or that is not known."""
        if self.phase != "sampling" or self.phase_at is None or not self.is_open:
            return None
        return max(0.0, self.seconds - max(0.0, now - self.phase_at))

    @property
    def workload(self) -> str:
        """What profiles of all replicas and times have in common; empty where nothing is known."""
        if self.owner or self.program:
            return self.owner or self.program
        if self.pod is not None and self.pod.name:
            return f"{self.pod.namespace}/{self.pod.name}"
        if self.target.kind == "cgroup":
            return self.target.value.rpartition("/")[2].removesuffix(".service")
        return ""

    @property
    def title(self) -> str:
        """What was profiled, as people call it."""
        if self.pod is not None and self.pod.name:
            return f"{self.pod.namespace}/{self.pod.name}"
        if self.program:
            return f"{self.program} (pid {self.target.value}) on {self.node}"
        return f"{self.target.kind} {self.target.value} on {self.node}"


def taken(profile: ProfileRecord, *, now: float) -> ProfileRecord:
    """*profile* once an agent has taken it; one that was late begins anew now."""
    if profile.state == "running":
        return replace(profile, started_at=now)
    return profile if profile.taken_at is not None else replace(profile, taken_at=now)


def is_later(one: ProfileRecord, other: ProfileRecord) -> bool:
    """Whether *one*, of the same profile, knows more of how it goes than *other*."""

    def steps(profile: ProfileRecord) -> tuple[int, float, bool]:
        state = {"asked": 0, "running": 1}.get(profile.state, 2)
        return state, profile.phase_at or 0.0, profile.taken_at is not None

    return steps(one) > steps(other)


def after(
    profile: ProfileRecord, outcome: ProfileOutcome, grade: Grade | None = None, *, now: float
) -> ProfileRecord | None:
    """*profile* once *outcome* has arrived, with the *grade* in it; None when that changes nothing.

    What is done or refused stays so, whatever comes late. What was given up as lost may still end.
    """
    known = (profile.state, profile.phase) == (outcome.state, outcome.phase)
    if profile.state in ("done", "refused") or known:
        return None
    begun = replace(
        profile,
        taken_at=profile.taken_at if profile.taken_at is not None else now,
        started_at=outcome.started_at or profile.started_at,
    )
    if outcome.state == "running":
        goes_on = profile.state == "running"
        return replace(
            begun,
            state="running",
            reason="",
            remedy="",
            started_at=outcome.started_at or (profile.started_at if goes_on else now),
            phase=outcome.phase,
            phase_at=now,
            recorded=outcome.recorded,
        )
    if outcome.state == "refused":
        why = EndReason(outcome.reason or "the agent gives no reason", outcome.remedy)
        return ended(begun, "refused", why, now=now)
    return replace(
        begun,
        state="done",
        phase="",
        reason="",
        remedy="",
        ended_at=now,
        seconds=outcome.seconds or profile.seconds,
        hz=outcome.hz or profile.hz,
        recorded=outcome.recorded,
        lost=dict(outcome.lost or {}),
        cpu_seconds=outcome.cpu_seconds,
        notes=outcome.notes,
        grade=grade,
        bytes=len(outcome.pprof),
    )


def ended(
    profile: ProfileRecord, state: Literal["refused", "lost"], why: EndReason, *, now: float
) -> ProfileRecord:
    return replace(
        profile, state=state, phase="", reason=why.reason, remedy=why.remedy, ended_at=now
    )


def deserted(profile: ProfileRecord) -> EndReason:
    """Why *profile* is given up when its agent has begun it and asks for nothing any more."""
    return EndReason(
        f"the agent on {profile.node} began it and has not asked for work for {NOT_TAKEN_S:.0f} s",
        "check that `nemutator-agent observe` runs there, then ask once more",
    )


def overdue(profile: ProfileRecord, *, now: float) -> EndReason | None:
    """Why *profile* must be given up by now; None: it need not."""
    if profile.state == "running":
        begun = profile.started_at or profile.asked_at
        # An agent's clock may be ahead of ours, and must not keep a profile open for ever.
        late_s = now - min(begun, now) - profile.seconds - NOT_ENDED_S
        due = profile.asked_at + NOT_TAKEN_S + NOT_BEGUN_S + profile.seconds + NOT_ENDED_S
        if late_s > 0 or now > due:
            what = f"the agent on {profile.node} began it and has not reported since"
            return EndReason(what, "ask once more")
    elif profile.state == "asked":
        if profile.taken_at is None and now > profile.asked_at + NOT_TAKEN_S:
            return EndReason(
                f"no agent on {profile.node} asked for work in {NOT_TAKEN_S:.0f} s",
                "check that `nemutator-agent observe` runs there and reaches the brain",
            )
        if profile.taken_at is not None and now > profile.taken_at + NOT_BEGUN_S:
            return EndReason(
                f"the agent on {profile.node} took it and never began", "its log says why"
            )
    return None
