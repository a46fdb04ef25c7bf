"""Which node has to make a profile: from the body of POST /api/v1/profiles."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
from nemutator_common.wire import (
    HIGHEST_PROFILE_HZ,
    LONGEST_PROFILE_S,
    USUAL_HIGHEST_PROFILE_HZ,
    USUAL_LONGEST_PROFILE_S,
    ProfileMeasure,
    ProfileTarget,
)

from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.profiles.ports import KnownPods
from nemutator_controller.profiles.records import PodRef

SHORTEST_S = 1.0
DEFAULT_S = 30.0
DEFAULT_HZ = 99
"""Odd, so that it does not beat with what happens a hundred times a second."""

LONGEST_VALUE = 4096
_UID = re.compile(r"[0-9a-fA-F-]{32,36}")
_PID = re.compile(r"[1-9][0-9]{0,6}")
LIST_REMEDY = "`nemutator profile` without a target lists what there is"


class InvalidProfileRequestError(ValueError):
    """Such a profile cannot be made; *status* is that of the response."""

    def __init__(self, what: str, remedy: str, *, status: int = 400) -> None:
        super().__init__(what)
        self.remedy = remedy
        self.status = status


class TargetQuestion(msgspec.Struct, frozen=True):
    kind: str
    value: str
    node: str | None = None


class ProfileQuestion(msgspec.Struct, frozen=True):
    target: TargetQuestion
    seconds: float = DEFAULT_S
    hz: int = DEFAULT_HZ
    measure: ProfileMeasure = "cpu"
    threads: bool = False


@dataclass(frozen=True, slots=True)
class LocatedTarget:
    node: str
    target: ProfileTarget
    pod: PodRef | None
    program: str = ""
    """The name of a process, from the last report of its node."""
    owner: str = ""
    """What owns the pod, where that is known."""


_decoder = msgspec.json.Decoder(ProfileQuestion)


def decode(body: bytes) -> ProfileQuestion:
    """The question in *body*, within its bounds."""
    try:
        asked = _decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        example = '{"target": {"kind": "pid", "value": "123"}, "seconds": 30, "hz": 99}'
        raise InvalidProfileRequestError(str(error)[:200], f"send {example}") from error
    if asked.threads and asked.measure != "cpu":
        raise InvalidProfileRequestError(
            f"threads: there are none of a profile of {asked.measure}", "leave it out"
        )
    if asked.measure == "heap":
        # It is read once: nothing is sampled, for no time.
        return msgspec.structs.replace(asked, seconds=0.0, hz=0)
    if asked.measure == "off-cpu":
        # Each wait is timed: nothing is sampled.
        check_seconds(asked.seconds)
        return msgspec.structs.replace(asked, hz=0)
    check_bounds(seconds=asked.seconds, hz=asked.hz)
    return asked


def check_bounds(*, seconds: float, hz: int) -> None:
    """Refuse at once what no agent accepts; the bound of the node itself may be lower."""
    check_seconds(seconds)
    if not 1 <= hz <= HIGHEST_PROFILE_HZ:
        raise InvalidProfileRequestError(
            f"hz: expected 1 to {USUAL_HIGHEST_PROFILE_HZ}, or up to {HIGHEST_PROFILE_HZ} where the"
            " node's setting observe.profile_hz allows it",
            f"leave it out for {DEFAULT_HZ} Hz",
        )


def check_seconds(seconds: float) -> None:
    """The same of the time alone."""
    if not (math.isfinite(seconds) and SHORTEST_S <= seconds <= LONGEST_PROFILE_S):
        raise InvalidProfileRequestError(
            f"seconds: expected {SHORTEST_S:.0f} to {USUAL_LONGEST_PROFILE_S:.0f}, or up to"
            f" {LONGEST_PROFILE_S:.0f} where the node's setting observe.profile_seconds allows it",
            f"leave it out for {DEFAULT_S:.0f} s",
        )


def locate(asked: TargetQuestion, nodes: Sequence[ReportedNode], pods: KnownPods) -> LocatedTarget:
    """The node that has the target *asked*, and that target as its agent takes it."""
    if len(asked.value) > LONGEST_VALUE or not asked.value.isprintable():
        raise InvalidProfileRequestError("target.value: too long, or not text", LIST_REMEDY)
    if asked.kind == "pod":
        return _pod(asked, nodes, pods)
    if asked.kind == "pid":
        if not _PID.fullmatch(asked.value):
            raise InvalidProfileRequestError("target.value: expected a process id", LIST_REMEDY)
        node = _node(asked.node, nodes)
        program = _program(int(asked.value), node, nodes)
        return LocatedTarget(node, ProfileTarget("pid", asked.value), None, program)
    if asked.kind == "cgroup":
        if not asked.value.startswith("/") or ".." in asked.value.split("/"):
            raise InvalidProfileRequestError(
                "target.value: expected a path from the root", LIST_REMEDY
            )
        return LocatedTarget(_node(asked.node, nodes), ProfileTarget("cgroup", asked.value), None)
    raise InvalidProfileRequestError(
        "target.kind: expected pod, pid, cgroup, unit or name", LIST_REMEDY
    )


def _program(pid: int, name: str, nodes: Iterable[ReportedNode]) -> str:
    """Empty when the process has started since, or did not fit into the report."""
    here = (node for node in nodes if node.name == name)
    processes = (process for node in here for process in node.report.processes)
    return next((process.command for process in processes if process.pid == pid), "")


def _pod(asked: TargetQuestion, nodes: Iterable[ReportedNode], pods: KnownPods) -> LocatedTarget:
    if (found := pods.find(asked.value)) is not None:
        if not found.node:
            what = f"{asked.value} is not on a node yet"
            raise InvalidProfileRequestError(what, "ask when it is scheduled", status=409)
        target = ProfileTarget("pod", found.ref.uid)
        return LocatedTarget(found.node, target, found.ref, owner=found.owner)
    # Reports know pods by their uid only, with or without a cluster that names them.
    uid = asked.value if _UID.fullmatch(asked.value) else None
    holders = [
        node.name
        for node in nodes
        if uid is not None and any(w.pod_uid == uid for w in node.report.workloads)
    ]
    if uid is None or not holders:
        what = f"no pod {asked.value!r} is known"
        remedy = "name it as NAMESPACE/NAME or by its uid, once it runs"
        if _PID.fullmatch(asked.value):
            remedy = f"write pid:{asked.value} for a process; if it is a pod, {remedy}"
        raise InvalidProfileRequestError(what, remedy, status=404)
    return LocatedTarget(holders[0], ProfileTarget("pod", uid), PodRef("", "", uid))


def _node(wanted: str | None, nodes: Sequence[ReportedNode]) -> str:
    known = [node.name for node in nodes]
    if wanted is None and len(known) == 1:
        return known[0]
    if wanted is None:
        what = (
            "no node has reported yet" if not known else "target.node: several nodes have reported"
        )
        raise InvalidProfileRequestError(what, f"say which: {LIST_REMEDY}", status=409)
    if wanted not in known:
        raise InvalidProfileRequestError(
            f"no node {wanted[:253]!r} has reported", LIST_REMEDY, status=404
        )
    return wanted
