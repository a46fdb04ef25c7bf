"""The processes of this data directory, as `sample.py` asks them."""

import asyncio
from dataclasses import dataclass
from typing import Any

from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import nodes
from nemutator_ctl.answers import Listing, understood
from nemutator_ctl.edits import ShownObject
from nemutator_ctl.local_api import LocalApi
from nemutator_ctl.up import sample
from nemutator_ctl.up.sample import PutUp

SECRETS = "/v1/store/secrets"
OBJECTS = "/api/v1/objects"
MUTATIONS = "/api/v1/mutations"
SEASONS = "/api/v1/seasons"

MOST_TRIED = 20
"""Mutations, newest first: somebody who has made more of them needs no example."""

SECONDS = 10
HZ = 99

ENDED = ("refused", "lost")


@dataclass(frozen=True, slots=True)
class SecretName:
    name: str


@dataclass(frozen=True, slots=True)
class AskedProfile:
    id: str
    state: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class MutationState:
    id: str
    mode: str
    state: str


@dataclass(frozen=True, slots=True)
class SeasonDayLength:
    day_s: float
    compressed: bool


@dataclass(frozen=True, slots=True)
class CalendarOfSeasons:
    calendar: SeasonDayLength


@dataclass(frozen=True, slots=True)
class StepVerdict:
    verdict: str


@dataclass(frozen=True, slots=True)
class RollbackVerdicts:
    steps: tuple[StepVerdict, ...]


class LocalSampleApi:
    def __init__(self, directory: DataDirectory) -> None:
        self._brain = LocalApi(directory)
        self._credentials = LocalApi(directory, role=names.CREDENTIALS)

    async def put_up(self) -> PutUp:
        return await asyncio.to_thread(self._put_up)

    async def is_go(self, pid: int) -> bool:
        return await asyncio.to_thread(self._is_go, pid)

    async def follow_seasons(self, pid: int) -> None:
        await asyncio.to_thread(self._follow_seasons, pid)

    async def profile(self, pid: int) -> str:
        target = {"kind": "pid", "value": str(pid)}
        question = {"target": target, "seconds": SECONDS, "hz": HZ}
        asked = await asyncio.to_thread(self._brain.post, "/api/v1/profiles", question)
        return understood(asked, AskedProfile, "a profile").id

    async def failure(self, profile: str) -> str | None:
        shown = await asyncio.to_thread(self._brain.get, f"/api/v1/profiles/{profile}")
        asked = understood(shown, AskedProfile, "a profile")
        if asked.state == "done":
            return ""
        if asked.state not in ENDED:
            return None
        return f"the profile was {asked.state}: {asked.reason}\n  remedy: {asked.remedy}"

    def _put_up(self) -> PutUp:
        secrets = understood(self._credentials.get(SECRETS), Listing[SecretName], "secrets").items
        if SecretName(sample.SECRET) not in secrets:
            value = {"value": sample.VALUE}
            self._credentials.put(f"{SECRETS}/{sample.SECRET}", value)
        self._put_up_objects(sample.POLICY, sample.MANIFEST)
        return PutUp(
            secret=sample.SECRET, mutation=self._to_roll_back(), day_s=self._compressed_day()
        )

    def _put_up_objects(self, *wanted: dict[str, Any]) -> None:
        there = understood(self._brain.get(OBJECTS), Listing[ShownObject], "objects").items
        for document in sample.absent(wanted, there):
            self._brain.post(OBJECTS, document)

    def _follow_seasons(self, pid: int) -> None:
        for node in nodes.decode(self._brain.get(nodes.TOPOLOGY_PATH)):
            groups = {one.path: one for one in node.workloads}
            for process in node.processes:
                if process.pid == pid and (group := groups.get(process.workload)) is not None:
                    found = sample.scope_of(
                        group.path,
                        group.kind,
                        group.name,
                        process.command,
                        is_summed=group.cpu_is_summed,
                    )
                    self._put_up_objects(*sample.brains(found))

    def _compressed_day(self) -> float | None:
        """None: a day has 24 hours here, or nobody finds seasons."""
        try:
            shown = understood(self._brain.get(SEASONS), CalendarOfSeasons, "seasons")
        except OperatorError as error:
            if error.code is ExitCode.FAILED:
                return None
            raise
        return shown.calendar.day_s if shown.calendar.compressed else None

    def _to_roll_back(self) -> str | None:
        """Id of the newest mutation of which a rollback would undo something."""
        metadata = sample.MANIFEST["metadata"]
        query = {name: metadata[name] for name in ("name", "namespace")}
        query["limit"] = str(MOST_TRIED)
        listed = understood(self._brain.get(MUTATIONS, query), Listing[MutationState], "mutations")
        for one in listed.items:
            if one.mode != "apply" or one.state == "reversed":
                continue
            try:
                plan = self._brain.post(f"{MUTATIONS}/{one.id}/rollback", query={"plan": "true"})
            except OperatorError as error:
                if error.code is ExitCode.FAILED:
                    # Its object is gone, or is another one by now.
                    continue
                raise
            steps = understood(plan, RollbackVerdicts, "the plan of a rollback").steps
            if StepVerdict("reverse") in steps:
                return one.id
        return None

    def _is_go(self, pid: int) -> bool:
        try:
            known = nodes.decode(self._brain.get(nodes.TOPOLOGY_PATH))
        except OperatorError:
            # The first report may not be there yet.
            return False
        return any(
            process.pid == pid and process.runtime == "go"
            for node in known
            for process in node.processes
        )
