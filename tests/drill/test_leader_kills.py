"""Two brains in a cluster, on the real API server and PostgreSQL: whoever leads is killed, or stopped for a while, at
whatever moment of its lease. The next one's work is seen within 15 s, and nobody goes on who has lost the lease."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from nemutator_common.names import PROFILE, PROFILE_RESULT
from nemutator_controller.leasing.election import RENEW_S

from tests.drill.two_brains import database_settings, two_brains
from tests.e2e.testbed.in_cluster.installation import (
    Installation,
    ended,
    refusals,
    started,
)
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(3600)

KILLS = int(os.environ.get("DRILL_KILLS", "8"))
STOPS = 2
DICE = random.Random(int(os.environ.get("DRILL_SEED", "16")))
GOES_ON_WITHIN_S = 15.0
PATIENCE_S = 240.0


def leads(one: Installation) -> bool:
    try:
        return one.counted("nemutator_brain_leads") == 1.0
    except OSError:
        return False


def asked(one: Installation, pod: str) -> None:
    """A pod that asks for what only the brain that leads answers."""
    one.pod(pod, one.nodes[0], "stranger")
    where = f"-n={one.namespace}"
    one.cluster.kubectl("annotate", "pod", pod, where, f"{PROFILE}=nonsense 5s id=1")


def until_answered(one: Installation, pod: str) -> None:
    def is_answered() -> bool:
        found = one.cluster.get("pod", pod, f"-n={one.namespace}")
        return PROFILE_RESULT in found["metadata"].get("annotations", {})

    until(is_answered, "who leads writes to pods", within_s=PATIENCE_S)


def transitions(one: Installation) -> int:
    lease = one.cluster.get("lease", "nemutator-brain", f"-n={one.namespace}")
    return int(lease["spec"]["leaseTransitions"])


def who_leads(first: Installation, second: Installation) -> tuple[Installation, Installation]:
    """And the other one."""

    def exactly_one() -> bool:
        return leads(first) != leads(second)

    until(exactly_one, "one of them leads", within_s=PATIENCE_S)
    return (first, second) if leads(first) else (second, first)


def gone_on_after_s(
    leader: Installation, other: Installation, sent: signal.Signals, pods: str
) -> float:
    """How long after that signal to *leader* the other one's work was seen."""
    asked(leader, f"{pods}-before")
    until_answered(leader, f"{pods}-before")
    had = transitions(leader)
    assert leader.process is not None
    time.sleep(DICE.uniform(0.0, RENEW_S))
    leader.process.send_signal(sent)
    at = time.monotonic()
    asked(other, pods)
    until_answered(other, pods)
    took_s = time.monotonic() - at
    assert transitions(other) == had + 1
    return took_s


def goes_back(leader: Installation, other: Installation, pods: str) -> None:
    """The one that was stopped: it learns that it leads no longer, and takes nothing back."""
    had = transitions(other)
    assert leader.process is not None
    leader.process.send_signal(signal.SIGCONT)
    until(lambda: not leads(leader), "the stopped one knows", within_s=PATIENCE_S)
    asked(other, f"{pods}-after")
    until_answered(other, f"{pods}-after")
    assert leads(other)
    assert transitions(other) == had


def test_whoever_leads_is_killed_and_its_work_goes_on_in_time(
    cluster: Cluster, postgres: Postgres, tmp_path: Path
) -> None:
    with new_namespace(cluster, "leads") as name, new_database(postgres, tmp_path) as server:
        settings = database_settings(server)
        with two_brains(cluster, name, tmp_path, server) as brains:
            killed, stopped = [], []
            for number in range(KILLS):
                leader, other = who_leads(*brains)
                took_s = gone_on_after_s(leader, other, signal.SIGKILL, f"kill-{number}")
                killed.append(round(took_s, 1))
                ended(leader)
                started(leader, **settings)
            for number in range(STOPS):
                leader, other = who_leads(*brains)
                took_s = gone_on_after_s(leader, other, signal.SIGSTOP, f"stop-{number}")
                stopped.append(round(took_s, 1))
                goes_back(leader, other, f"stop-{number}")
            print(f"seen to go on, seconds after kills: {killed}, after stops: {stopped}")
            for one in brains:
                assert refusals(one) == []
    assert max(killed + stopped) <= GOES_ON_WITHIN_S
