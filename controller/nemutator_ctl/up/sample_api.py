"""The processes of this data directory, as `sample.py` asks them."""

import asyncio
from collections.abc import Mapping

from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl import nodes
from nemutator_ctl.answers import not_understood
from nemutator_ctl.local_api import LocalApi
from nemutator_ctl.up import sample_objects
from nemutator_ctl.up.sample_objects import PutUp

ANSWER_S = 5.0

OBJECTS = "/api/v1/objects"
MUTATIONS = "/api/v1/mutations"

MOST_TRIED = 20
"""Mutations, newest first: somebody who has made more of them needs no example."""

SECONDS = 10
HZ = 99

ENDED = ("refused", "lost")


class LocalSampleApi:
    def __init__(self, directory: DataDirectory) -> None:
        self._brain = LocalApi(directory, timeout_s=ANSWER_S)
        self._credentials = LocalApi(directory, role=names.CREDENTIALS, timeout_s=ANSWER_S)

    async def put_up(self) -> PutUp:
        return await asyncio.to_thread(self._put_up)

    async def is_go(self, pid: int) -> bool:
        return await asyncio.to_thread(self._is_go, pid)

    async def profile(self, pid: int) -> str:
        target = {"kind": "pid", "value": str(pid)}
        question = {"target": target, "seconds": SECONDS, "hz": HZ}
        asked = await asyncio.to_thread(self._brain.post, "/api/v1/profiles", question)
        return _text(asked, "id")

    async def failure(self, profile: str) -> str | None:
        shown = await asyncio.to_thread(self._brain.get, f"/api/v1/profiles/{profile}")
        state = _text(shown, "state")
        if state == "done":
            return ""
        if state not in ENDED:
            return None
        reason, remedy = _text(shown, "reason"), _text(shown, "remedy")
        return f"the profile was {state}: {reason}\n  remedy: {remedy}"

    def _put_up(self) -> PutUp:
        store = "/v1/store/secrets"
        if not any(
            one.get("name") == sample_objects.SECRET for one in _items(self._credentials, store)
        ):
            value = {"value": sample_objects.VALUE}
            self._credentials.put(f"{store}/{sample_objects.SECRET}", value)
        for document in sample_objects.absent(_items(self._brain, OBJECTS)):
            self._brain.post(OBJECTS, document)
        return PutUp(secret=sample_objects.SECRET, mutation=self._to_roll_back())

    def _to_roll_back(self) -> str | None:
        """Id of the newest mutation of which a rollback would undo something."""
        metadata = sample_objects.MANIFEST["metadata"]
        query = f"namespace={metadata['namespace']}&name={metadata['name']}&limit={MOST_TRIED}"
        for one in _items(self._brain, f"{MUTATIONS}?{query}"):
            if one.get("mode") != "apply" or one.get("state") == "reversed":
                continue
            id_ = _text(one, "id")
            try:
                plan = self._brain.post(f"{MUTATIONS}/{id_}/rollback", query={"plan": "true"})
            except OperatorError as error:
                if error.code is ExitCode.FAILED:
                    # Its object is gone, or is another one by now.
                    continue
                raise
            if any(step.get("verdict") == "reverse" for step in _items_of(plan, "steps")):
                return id_
        return None

    def _is_go(self, pid: int) -> bool:
        try:
            known = nodes.decode(self._brain.get(nodes.TOPOLOGY_PATH))
        except OperatorError:
            # The first report may not be there yet.
            return False
        return any(
            row.kind == "process"
            and row.name.split()[0] == str(pid)
            and row.runtime.startswith("go")
            for node in known
            for row in node.rows
        )


def _items(api: LocalApi, path: str) -> list[Mapping[str, object]]:
    return _items_of(api.get(path), "items")


def _items_of(document: object, field: str) -> list[Mapping[str, object]]:
    items = document.get(field) if isinstance(document, Mapping) else None
    if not isinstance(items, list) or not all(isinstance(one, Mapping) for one in items):
        raise not_understood(f"it has no list of {field}")
    return items


def _text(document: object, field: str) -> str:
    value = document.get(field) if isinstance(document, Mapping) else None
    if not isinstance(value, str):
        raise not_understood(f"it has no {field}")
    return value
