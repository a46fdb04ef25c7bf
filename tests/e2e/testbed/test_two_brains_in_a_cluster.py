"""Two brains in one cluster, on the real API server and PostgreSQL: the one that leads is killed under load."""

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from nemutator_common.names import PROFILE, PROFILE_RESULT
from nemutator_controller.leasing.election import LEASE_S, WATCH_S

from tests.e2e.testbed.in_cluster.installation import (
    READY_S,
    REPORTS,
    Installation,
    brain,
    installed,
    is_ready,
    refusals,
    reports,
)
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.postgres_databases import new_database
from tests.testbed.running.ports import free_port
from tests.testbed.running.waiting import until

BEFORE, AFTER = 20, 40
"""Reports that are acknowledged before the kill and after it."""

LEADS_WITHIN_S = 60.0 + LEASE_S + WATCH_S


@dataclass
class Reporter:
    """An agent that sends its next report to whichever brain answers."""

    node: str
    token: str
    brains: list[Installation]
    acknowledged: int = 0
    longest_silence_s: float = 0.0
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        turn, heard_at = 0, time.monotonic()
        while not self.stop.wait(0.02):
            to = self.brains[turn % len(self.brains)]
            body = reports(self.node, seq=self.acknowledged + 1)
            try:
                answer = to.ask(to.uplink, REPORTS, token=self.token, body=body)
            except (OSError, http.client.HTTPException):
                turn += 1
                continue
            if answer.status != 200:
                turn += 1
                continue
            now = time.monotonic()
            self.longest_silence_s = max(self.longest_silence_s, now - heard_at)
            self.acknowledged, heard_at = answer.json["seq"], now

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self.run)
        thread.start()
        try:
            yield
        finally:
            self.stop.set()
            thread.join()


def leads(one: Installation) -> bool:
    with contextlib.suppress(OSError):
        return one.counted("nemutator_brain_leads") == 1.0
    return False


def is_told(one: Installation, pod: str) -> bool:
    """Whether somebody has written to *pod* what became of the request in its annotation."""
    found = one.cluster.get("pod", pod, f"-n={one.namespace}")
    return PROFILE_RESULT in found["metadata"].get("annotations", {})


def ask_in_vain(one: Installation, pod: str) -> None:
    value = "nonsense 5s id=1"
    where = f"-n={one.namespace}"
    one.cluster.kubectl("annotate", "pod", pod, where, f"{PROFILE}={value}")


@pytest.mark.timeout(400)  # two processes with their imports, and a lease that runs out
def test_the_leader_is_killed_and_the_other_one_goes_on(
    cluster: Cluster, postgres: Postgres, tmp_path: Path
) -> None:
    with new_namespace(cluster, "brains") as namespace, new_database(postgres, tmp_path) as server:
        database = {
            "NEMUTATOR_BRAIN_DATABASE": server.place,
            "NEMUTATOR_BRAIN_DATABASE_PASSWORD_FILE": str(server.password_file),
        }
        one_folder, other_folder = tmp_path / "one", tmp_path / "other"
        one_folder.mkdir()
        other_folder.mkdir()
        with installed(cluster, namespace, one_folder, **database) as one:
            other = replace(one, directory=other_folder, uplink=free_port(), console=free_port())
            process = brain(other, **database)
            try:
                until(lambda: is_ready(other, process), "both are ready", within_s=READY_S)
                until(lambda: leads(one), "the first one leads", within_s=60)
                assert not leads(other)
                acknowledged = kills(one, other, cluster, namespace)
            finally:
                process.kill()
                process.wait()
                assert process.stdin is not None
                process.stdin.close()
                print((other_folder / "brain.log").read_text()[-4000:])
            kept = postgres.sql("SELECT count(*) FROM history", database=server.database)
            print(f"{kept.strip()} points of history")
            assert int(kept) == acknowledged


def kills(one: Installation, other: Installation, cluster: Cluster, namespace: str) -> int:
    """Reports that were acknowledged."""
    node = one.nodes[0]
    one.pod("agent-k", node, "nemutator-agent")
    token = one.token("nemutator-agent", pod="agent-k")
    for name in ("before", "after"):
        one.pod(name, node, "stranger")
    ask_in_vain(one, "before")
    until(lambda: is_told(one, "before"), "the leader writes to pods", within_s=60)
    refused = other.ask(
        other.console, "/api/v1/evictions", token=one.token("viewer", audience=""), body=b"{}"
    )
    assert refused.status in (403, 503), refused.body
    reporter = Reporter(node, token, [one, other])
    with reporter.running():
        until(lambda: reporter.acknowledged >= BEFORE, "reports are taken", within_s=120)
        assert one.process is not None
        one.process.kill()
        one.process.wait()
        killed_at, had = time.monotonic(), reporter.acknowledged
        ask_in_vain(one, "after")
        until(lambda: leads(other), "the other one leads", within_s=LEADS_WITHIN_S)
        led_after_s = time.monotonic() - killed_at
        until(lambda: reporter.acknowledged >= had + AFTER, "the stream goes on", within_s=120)
    until(lambda: is_told(other, "after"), "who leads now writes to pods", within_s=60)
    again = other.ask(
        other.uplink, REPORTS, token=token, body=reports(node, seq=reporter.acknowledged)
    )
    assert (again.status, again.json["seq"]) == (200, reporter.acknowledged)
    lease = cluster.get("lease", "nemutator-brain", f"-n={namespace}")
    assert lease["spec"]["leaseTransitions"] == 1
    assert refusals(other) == []
    print(
        json.dumps(
            {
                "led_after_s": round(led_after_s, 1),
                "longest_silence_s": round(reporter.longest_silence_s, 1),
                "acknowledged": reporter.acknowledged,
            }
        )
    )
    return reporter.acknowledged
