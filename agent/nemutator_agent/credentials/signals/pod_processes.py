"""Sends a signal to the first process of a container, held by a pidfd so that no other can get it.

The first process is the oldest: when it ends, the runtime ends all others of its container, and what is
started in one later, as by `kubectl exec`, is younger.
"""

import asyncio
import os
import select
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field

from nemutator_common.on_rotate import ContainerSignal

from nemutator_agent.credentials.ports import AttestsPods
from nemutator_agent.credentials.signals.outcomes import SignalOutcome
from nemutator_agent.credentials.signals.process_texts import container_of, handles
from nemutator_agent.identity.cgroup_lines import LONGEST_TEXT
from nemutator_agent.identity.facts import LONGEST_STAT, ProcessFacts, started_ticks
from nemutator_agent.identity.failures import AttestationError

MOST_EXAMINED = 1024
"""Processes of one pod, the oldest first."""

_LONGEST_MOUNTS = 256 << 10
_LONGEST_STATUS = 16 << 10


@dataclass(eq=False, slots=True)
class PodProcesses:
    """A `SignalsContainers`, by /proc. As for identity, this process has to be in the machine's own pid
    namespace."""

    attestor: AttestsPods
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def send(self, pod_uid: str, wanted: ContainerSignal) -> SignalOutcome:
        # In a thread, because a large node has some thousand processes; for one pod at a time.
        async with self._turn:
            return await asyncio.to_thread(self._send, pod_uid, wanted)

    def _send(self, pod_uid: str, wanted: ContainerSignal) -> SignalOutcome:
        for started, pid in sorted(self._of_pod(pod_uid))[:MOST_EXAMINED]:
            try:
                process = os.pidfd_open(pid)
            except OSError:
                continue
            try:
                outcome = self._send_to(process, pid, started, pod_uid, wanted)
            finally:
                os.close(process)
            if outcome is not None:
                return outcome
        return SignalOutcome.CONTAINER

    def _send_to(
        self, process: int, pid: int, started: int, pod_uid: str, wanted: ContainerSignal
    ) -> SignalOutcome | None:
        """None where it is not the process that is meant."""
        found = self._facts(pid)
        mounts = _read(pid, "mountinfo", _LONGEST_MOUNTS)
        status = _read(pid, "status", _LONGEST_STATUS)
        # If it lives, it had the number all the time, and all that was read is about it.
        if found is None or found.started_ticks != started or _has_ended(process):
            return None
        if not self._is_in(found, pod_uid) or container_of(mounts, pod_uid) != wanted.container:
            return None
        if not handles(status, wanted.number):
            return SignalOutcome.UNCAUGHT
        try:
            signal.pidfd_send_signal(process, wanted.number)
        except PermissionError:
            return SignalOutcome.FORBIDDEN
        except ProcessLookupError:
            return None
        return SignalOutcome.SENT

    def _of_pod(self, pod_uid: str) -> Iterator[tuple[int, int]]:
        """When each of the pod's processes was started, and its number."""
        for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
            found = self._facts(pid)
            if found is None or found.started_ticks is None:
                continue
            if self._is_in(found, pod_uid):
                yield found.started_ticks, pid

    def _facts(self, pid: int) -> ProcessFacts | None:
        try:
            cgroup = _read(pid, "cgroup", LONGEST_TEXT).decode("utf-8", "surrogateescape")
            started = started_ticks(_read(pid, "stat", LONGEST_STAT))
        except AttestationError:
            return None
        return ProcessFacts(cgroup, started, None)

    def _is_in(self, found: ProcessFacts, pod_uid: str) -> bool:
        try:
            self.attestor.admit(found, pod_uid)
        except AttestationError:
            return False
        return True


def _read(pid: int, name: str, most: int) -> bytes:
    """Its beginning, or nothing when the process has ended."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read(most)
    except OSError:
        return b""


def _has_ended(process: int) -> bool:
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(0))
