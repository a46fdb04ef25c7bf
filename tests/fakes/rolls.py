"""Workloads that can be rolled, and the rolls of them, in memory."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.kube.reviews import User
from nemutator_controller.rolling.records import (
    LiveWorkload,
    Roll,
    RolledWorkload,
    RollState,
    WorkloadChangedError,
    WorkloadGoneError,
)

WEB = RolledWorkload(namespace="shop", kind="Deployment", name="web", uid="u1")
USUAL: dict[str, Any] = {
    "type": "RollingUpdate",
    "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
}


def roll(id_: str = "r1", *, at: float = 0.0, **fields: Any) -> Roll:
    usual: dict[str, Any] = {
        "by": "anna", "reason": "new node", "workload": WEB, "deadline_s": 60.0, "window": "",
    }  # fmt: skip
    return Roll(id=id_, at=at, **(usual | fields))


class MemoryRolls:
    """A `RollStore`."""

    def __init__(self) -> None:
        self.kept: dict[str, Roll] = {}
        self.is_away = False
        self.refused: set[RollState] = set()
        """It is away whenever one of these is to be saved."""

    async def save(self, roll: Roll) -> None:
        if self.is_away or roll.state in self.refused:
            raise StoreUnavailableError("full")
        self.kept[roll.id] = roll

    async def unfinished(self) -> Sequence[Roll]:
        return [each for each in self._oldest() if each.is_open]

    async def rolls(self, *, namespace: str | None, limit: int) -> Sequence[Roll]:
        newest = sorted(self.kept.values(), key=lambda each: (-each.at, each.id))
        return [each for each in newest if namespace in (None, each.workload.namespace)][:limit]

    async def roll(self, id_: str) -> Roll | None:
        return self.kept.get(id_)

    async def drop_before(self, moment: float, *, most: int) -> int:
        return self._drop([each for each in self._finished() if each.at < moment][:most])

    async def drop_oldest(self, *, most: int) -> int:
        return self._drop(self._finished()[:most])

    async def count(self) -> int:
        return len(self.kept)

    def _oldest(self) -> list[Roll]:
        return sorted(self.kept.values(), key=lambda each: (each.at, each.id))

    def _finished(self) -> list[Roll]:
        return [each for each in self._oldest() if not each.is_open]

    def _drop(self, rolls: Sequence[Roll]) -> int:
        for each in rolls:
            del self.kept[each.id]
        return len(rolls)


class MemoryWorkloads:
    """The `Workloads` of one Deployment, whose controller a test plays."""

    def __init__(self, *, replicas: int = 2) -> None:
        self.document: dict[str, Any] | None = {
            "metadata": {"name": "web", "uid": "u1", "generation": 1},
            "spec": {"replicas": replicas, "strategy": copy.deepcopy(USUAL), "template": {}},
            "status": {
                "observedGeneration": 1,
                "replicas": replicas,
                "updatedReplicas": replicas,
                "availableReplicas": replicas,
            },
        }
        self.version = 1
        self.notes: list[tuple[str, bool]] = []
        self.failure: Exception | None = None
        self.races = False
        """Whether its controller writes to it as soon as it is patched, as a Deployment's does."""

    @property
    def spec(self) -> dict[str, Any]:
        assert self.document is not None
        found: dict[str, Any] = self.document["spec"]
        return found

    def controller(self, *, updated: int, available: int) -> None:
        """What the Deployment controller says after it has seen the newest spec."""
        assert self.document is not None
        self.document["status"] |= {
            "observedGeneration": self.document["metadata"]["generation"],
            "replicas": self.spec["replicas"],
            "updatedReplicas": updated,
            "availableReplicas": available,
        }
        self.version += 1

    def become_a_daemon_set(self, strategy: dict[str, Any]) -> None:
        assert self.document is not None
        self.document["spec"] = {"updateStrategy": strategy, "template": {}}
        self.nodes(updated=0, available=2)

    def nodes(self, *, updated: int, available: int) -> None:
        """What the DaemonSet controller says of its two nodes."""
        assert self.document is not None
        self.document["status"] = {
            "observedGeneration": self.document["metadata"]["generation"],
            "desiredNumberScheduled": 2,
            "currentNumberScheduled": 2,
            "updatedNumberScheduled": updated,
            "numberAvailable": available,
        }
        self.version += 1

    def become_another(self, uid: str) -> None:
        """It is deleted, and made again under its name."""
        assert self.document is not None
        self.document["metadata"]["uid"] = uid
        self.version += 1

    def scale(self, replicas: int) -> None:
        """What an autoscaler writes; the controller has not seen it yet."""
        assert self.document is not None
        self.spec["replicas"] = replicas
        self.document["metadata"]["generation"] += 1
        self.version += 1

    def change(self, **fields: Any) -> None:
        """What somebody writes into its spec; the controller has not seen it yet."""
        assert self.document is not None
        self.document["spec"] |= fields
        self.document["metadata"]["generation"] += 1
        self.version += 1

    async def get(self, workload: RolledWorkload) -> LiveWorkload:
        if self.failure is not None:
            raise self.failure
        if self.document is None:
            raise WorkloadGoneError(str(workload))
        uid = self.document["metadata"]["uid"]
        if workload.uid not in ("", uid):
            raise WorkloadGoneError(f"{workload}: another one has its name by now")
        found = replace(workload, uid=uid)
        return LiveWorkload(found, copy.deepcopy(self.document), str(self.version))

    async def patch(self, live: LiveWorkload, change: Any) -> LiveWorkload:
        if self.failure is not None:
            raise self.failure
        if live.version != str(self.version):
            raise WorkloadChangedError
        assert self.document is not None
        self.document = merged(self.document, change)
        self.document["metadata"]["generation"] += 1
        self.version += 1
        patched = await self.get(live.workload)
        if self.races:
            self.version += 1
            self.document["status"]["observedGeneration"] = self.document["metadata"]["generation"]
        return patched

    def notify(self, workload: RolledWorkload, note: str, *, warning: bool = False) -> None:
        self.notes.append((note, warning))


class MemoryOffPeaks:
    """The `OffPeaks` of a test."""

    def __init__(self) -> None:
        self.now: bool | None = None

    def is_off_peak(self, workload: RolledWorkload) -> bool | None:
        return self.now


class MemoryRollRights:
    """The `RollRights` of one person in some namespaces."""

    def __init__(self, *namespaces: str) -> None:
        self.namespaces = set(namespaces)

    async def may(self, user: User, workload: RolledWorkload) -> bool:
        return workload.namespace in self.namespaces


def merged(document: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch (RFC 7386)."""
    result = dict(document)
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            now = result.get(key)
            result[key] = merged(now if isinstance(now, Mapping) else {}, value)
        else:
            result[key] = value
    return result
