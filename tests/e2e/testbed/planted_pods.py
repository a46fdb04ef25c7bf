"""Pods of a real control plane of which one is a planted aggressor, and the agent that reports what they use and wait for."""

import time
from dataclasses import replace
from typing import Any

import msgspec
from nemutator_common.wire import Batch, Envelope, Summary
from nemutator_controller.neighbours.node_window import FIGURES
from nemutator_controller.neighbours.point_figures import GIB, MB
from nemutator_controller.neighbours.resources import Contended

from tests.e2e.testbed.in_cluster.installation import REPORTS, Installation
from tests.fakes.planted_neighbours import planted_node
from tests.fakes.reports import report
from tests.testbed.parts.control_plane import Cluster

MINUTES, KNOWN = 300, 95
"""Minutes in all, and of them the first that are told at once. From then on the planted one has a grade for ninety minutes
without a break; before, it once was quiet for too long."""
INNOCENT = 9
SEED = 300

Json = dict[str, Any]


class Planted:
    """`web` and `batch` are Deployments that are there already, and whose pods run."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster, self.namespace = cluster, namespace
        self.node = planted_node(SEED, Contended.CPU, pods=INNOCENT + 1, minutes=MINUTES)
        (self.hog,) = self.node.aggressors
        [self.aggressor] = self.pods("batch")
        self.rows = [container(one) for one in self.pods("web")]
        self.rows.insert(self.hog, container(self.aggressor))

    def pods(self, app: str) -> list[Json]:
        where = f"--namespace={self.namespace}"
        found = self.cluster.get("pods", where, f"--selector=app={app}")["items"]
        return [one for one in found if "deletionTimestamp" not in one["metadata"]]

    def labels(self) -> dict[str, str] | None:
        """Of the aggressor; None: it is gone."""
        found = [one["metadata"] for one in self.pods("batch")]
        mine = [one for one in found if one["uid"] == self.aggressor["metadata"]["uid"]]
        return mine[0].get("labels", {}) if mine else None


def container(pod: Json) -> tuple[str, str]:
    [one] = pod["status"]["containerStatuses"]
    return pod["metadata"]["uid"], one["containerID"].partition("://")[2]


class PlantedAgent:
    """What the agent of a node reports: the rows of *planted*, each as one pod of ours."""

    def __init__(
        self, brain: Installation, planted: Planted, *, minute_s: float, known: int = KNOWN
    ) -> None:
        self.planted, self.values, self.minute_s = planted, planted.node.values, minute_s
        self.name = str(planted.aggressor["spec"]["nodeName"])
        brain.pod("agent", self.name, "nemutator-agent")
        self.token = brain.token("nemutator-agent", pod="agent")
        self.seq = self.told = 0
        self.known = known
        self.begun = minute_s * (int(time.time() / minute_s) - known)

    @property
    def seconds(self) -> float:
        """Since the first report."""
        return round(time.time() - self.begun - self.known * self.minute_s, 1)

    def becomes_quiet(self) -> None:
        """From now on the aggressor does nothing."""
        self.values = planted_node(
            SEED,
            Contended.CPU,
            pods=INNOCENT + 1,
            minutes=MINUTES,
            quiet=frozenset({self.planted.hog}),
        ).values

    def tell(self, brain: Installation) -> None:
        """All minutes that have ended and were not told yet."""
        ended = min(int((time.time() - self.begun) / self.minute_s), MINUTES)
        envelopes: list[Envelope] = []
        for minute in range(self.told, ended):
            end = self.begun + (minute + 1.0) * self.minute_s
            summaries = tuple(
                self.summary(row, minute, end, *names_of)
                for row, names_of in enumerate(self.planted.rows)
            )
            one = replace(report(end), summaries=summaries)
            envelopes.append(Envelope(self.seq + len(envelopes) + 1, one))
        for first in range(0, len(envelopes), 10):
            several = tuple(envelopes[first : first + 10])
            body = msgspec.json.encode(Batch(self.name, "e1", several))
            answer = brain.ask(brain.uplink, REPORTS, token=self.token, body=body)
            assert answer.status == 200, answer.body
            self.seq += len(several)
            self.told += len(several)

    def summary(self, row: int, minute: int, end: float, uid: str, container_id: str) -> Summary:
        found = self.values[:, row, minute].astype(float).tolist()
        of = dict(zip(FIGURES, found, strict=True))
        return Summary(
            path=f"/kubepods/pod{uid}/{container_id}",
            pod_uid=uid,
            container_id=container_id,
            from_at=end - self.minute_s,
            to_at=end,
            cpu_cores=of["cpu"],
            memory_bytes=int(of["memory"] * GIB),
            disk_read=of["disk"] * MB,
            network_sent=of["network"] * MB,
            cpu_waiting=100 * of["cpu_waiting"],
            memory_waiting=100 * of["memory_waiting"],
            disk_waiting=100 * of["disk_waiting"],
            run_delay_p99=of["turn_waiting"],
        )
