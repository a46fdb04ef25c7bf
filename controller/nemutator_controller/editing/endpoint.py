"""`/api/v1/policies`: lists MutationPolicies, tries an edited one on what runs now, and saves it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from nemutator_controller.access.gates import person_token
from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal, unavailable
from nemutator_controller.editing import documents
from nemutator_controller.editing.documents import StoredPolicy
from nemutator_controller.editing.ports import EditablePolicies
from nemutator_controller.editing.previews import PolicyPreview, RunningObjects, edited, preview
from nemutator_controller.editing.refusals import NotEditedError
from nemutator_controller.policies.model import Policy, PolicyError, policy_from_document
from nemutator_controller.policies.snapshot import snapshot_of

POLICIES_PATH = "/api/v1/policies"
RESOURCE = "mutationpolicies"
"""Who may read or change them by kubectl, may here."""

LONGEST_VERSION = 128

Handler = Callable[[web.Request], Awaitable[web.Response]]


class EditedPolicy(msgspec.Struct, frozen=True):
    document: dict[str, Any]
    version: str = ""


@dataclass(frozen=True, slots=True)
class PoliciesApi:
    policies: EditablePolicies

    def routes(self) -> list[AllowedRoute]:
        tried = web.post(f"{POLICIES_PATH}/preview", explained(self._preview))
        return [
            allowed("get", RESOURCE, web.get(POLICIES_PATH, explained(self._list))),
            allowed("get", RESOURCE, tried),
            allowed("update", RESOURCE, web.post(POLICIES_PATH, explained(self._save))),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        return answer(documents.listed(await self.policies.all(person_token(request))))

    async def _preview(self, request: web.Request) -> web.Response:
        _, policy = await _given(request)
        who = person_token(request)
        stored = await self.policies.all(who)
        objects = await self.policies.running(who, policy)
        # Some hundred plans, each twice, would hold up the loop.
        found = await asyncio.to_thread(_previewed, stored, policy, objects)
        return answer(documents.previewed(found, more=objects.more))

    async def _save(self, request: web.Request) -> web.Response:
        given, policy = await _given(request)
        who = person_token(request)
        outcome = await self.policies.save(who, given.document, version=given.version)
        return answer(documents.saved(policy.name, outcome))


def _previewed(
    stored: Sequence[StoredPolicy], policy: Policy, objects: RunningObjects
) -> PolicyPreview:
    before = snapshot_of({each.name: each.spec for each in stored})
    return preview(objects.items, before, edited(before, policy), defaulted=objects.defaulted)


async def _given(request: web.Request) -> tuple[EditedPolicy, Policy]:
    """Raises `NotEditedError` when it is not sound."""
    try:
        given = msgspec.json.decode(await request.read(), type=EditedPolicy)
        if len(given.version) > LONGEST_VERSION:
            raise NotEditedError("version: too long", "send the one that the list has")
        return given, policy_from_document(given.document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = f"the request: {str(error)[:200]}"
        raise NotEditedError(what, "send a document, and the version that it had") from error
    except PolicyError as error:
        raise NotEditedError("; ".join(error.faults), "correct these fields") from error


def explained(handler: Handler) -> Handler:
    """*handler*, whose errors become responses with a remedy."""

    async def explaining(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except NotEditedError as error:
            if error.again:
                return unavailable(str(error), error.remedy)
            return refusal(409, str(error), error.remedy)

    return explaining
