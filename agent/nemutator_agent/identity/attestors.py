"""Decides whether the facts of a process show that it is who it has to be."""

from collections.abc import Sequence
from dataclasses import replace

from nemutator_agent.identity.cgroup_lines import UNIFIED, CgroupLine, line_of, parse_lines
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.pods import PodsRoot, find_pods_root, pods_below
from nemutator_agent.identity.rules import CallerRule, split_cgroup


class PodAttestor:
    """For clusters: kubelet says which pod owns the socket, the kernel which pod the process is in."""

    __slots__ = ("_pod_of", "root")

    def __init__(self, root: PodsRoot) -> None:
        self.root = root
        self._pod_of = pods_below(root)

    def admit(self, facts: ProcessFacts, pod_uid: str) -> None:
        """Return when the process is in the pod that the socket was given to; else AttestationError."""
        found = self._pod_of(facts.cgroup)
        if found != pod_uid:
            raise AttestationError("other pod", f"the caller is in pod {found}, not in {pod_uid}")
        if not facts.proven:
            raise _unproven()


class LearningPodAttestor:
    """A `PodAttestor` that learns where kubelet keeps its pods, and where this process is itself: in a
    cgroup namespace of its own, as containers have with version 2, a process sees neither.
    """

    def __init__(self, own_cgroup: str, setting: str) -> None:
        self._own_cgroup = own_cgroup
        self._witness: PodAttestor | None = None
        """Once the position is known."""
        self._unknown = ""
        try:
            self._witness = PodAttestor(find_pods_root(own_cgroup, setting))
        except ValueError as error:
            if setting:
                raise
            self._unknown = str(error)

    def learn(self, setting: str) -> None:
        """Take over the *setting* that a process which sees the whole machine has found, unless the
        position is known already.

        Raises a ValueError, which says what to do, when that process did not find it either.
        """
        if self._witness is None:
            if not setting:
                raise ValueError(self._unknown)
            self._witness = PodAttestor(find_pods_root(self._own_cgroup, setting))
        elif (root := self._witness.root).namespace is None and setting:
            found = find_pods_root(self._own_cgroup, setting)
            if found.hierarchy == root.hierarchy:
                self._witness = PodAttestor(replace(root, namespace=found.namespace))

    def admit(self, facts: ProcessFacts, pod_uid: str) -> None:
        """Decide as a `PodAttestor` does, and admit nobody while the position is not known."""
        if self._witness is None:
            raise AttestationError("position", self._unknown)
        self._witness.admit(facts, pod_uid)


def admit_by_rules(peer_uid: int, facts: ProcessFacts, rules: Sequence[CallerRule]) -> None:
    """Outside of Kubernetes: return when all parts of one of the *rules* hold; else AttestationError."""
    lines = parse_lines(facts.cgroup)
    held = [rule for rule in rules if _holds(rule, peer_uid, facts, lines)]
    if not held:
        program = facts.executable or "a program that may not be seen"
        raise AttestationError("rule", f"no rule admits uid {peer_uid} with {program}")
    # The kernel notes the uid of who connects: it is right, whoever has the number of the process now.
    if not facts.proven and all(rule.executable or rule.cgroup for rule in held):
        raise _unproven()


def _unproven() -> AttestationError:
    return AttestationError(
        "start", "the process has only just started, and it is not certain that it connected itself"
    )


def _holds(rule: CallerRule, uid: int, facts: ProcessFacts, lines: tuple[CgroupLine, ...]) -> bool:
    return (
        # A rule without parts is a mistake, so it admits nobody.
        rule != CallerRule()
        and rule.uid in (None, uid)
        and rule.executable in (None, facts.executable)
        and (rule.cgroup is None or _is_below(rule.cgroup, lines))
    )


def _is_below(cgroup: str, lines: tuple[CgroupLine, ...]) -> bool:
    hierarchy, path = split_cgroup(cgroup)
    line = (
        line_of(lines, UNIFIED) or line_of(lines, "name=systemd")
        if hierarchy is None
        else line_of(lines, hierarchy)
    )
    return line is not None and (line.path == path or line.path.startswith(f"{path}/"))
