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
from nemutator_controller.editing.written_policies import read_policy, with_lines
from nemutator_controller.policies.model import Policy, PolicyError, policy_from_document
from nemutator_controller.policies.snapshot import snapshot_of

POLICIES_PATH = "/api/v1/policies"
RESOURCE = "mutationpolicies"
"""Who may read or change them by kubectl, may here."""

LONGEST_VERSION = 128

Handler = Callable[[web.Request], Awaitable[web.Response]]


class EditedPolicy(msgspec.Struct, frozen=True):
    """What a person wrote as `text`, YAML or JSON; or, of a program, the `document` itself."""

    text: str = ""
    document: dict[str, Any] | None = None
    version: str = ""
    name: str = ""
    """The policy that was opened; empty: none, it is a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundPolicy:
    document: dict[str, Any]
    version: str
    policy: Policy


@dataclass(frozen=True, slots=True)
class PoliciesApi:
    policies: EditablePolicies

    def routes(self) -> list[AllowedRoute]:
        tried = web.post(f"{POLICIES_PATH}/preview", explained(self._preview))
        return [
            allowed("get", RESOURCE, web.get(POLICIES_PATH, explained(self._list))),
            allowed("get", RESOURCE, web.get(f"{POLICIES_PATH}/{{name}}", explained(self._open))),
            allowed("get", RESOURCE, tried),
            allowed("update", RESOURCE, web.post(POLICIES_PATH, explained(self._save))),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        return answer(documents.listed(await self.policies.all(person_token(request))))

    async def _open(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        for stored in await self.policies.all(person_token(request)):
            if stored.name == name:
                return answer(await asyncio.to_thread(documents.opened, stored))
        return refusal(
            404, f"no policy is called {name[:80]!r}", "the list has those that there are"
        )

    async def _preview(self, request: web.Request) -> web.Response:
        given = await _given(request)
        who = person_token(request)
        stored = await self.policies.all(who)
        objects = await self.policies.running(who, given.policy)
        # Some hundred plans, each twice, would hold up the loop.
        found = await asyncio.to_thread(_previewed, stored, given.policy, objects)
        return answer(documents.previewed(found, mode=given.policy.spec.mode, more=objects.more))

    async def _save(self, request: web.Request) -> web.Response:
        given = await _given(request)
        who = person_token(request)
        outcome = await self.policies.save(who, given.document, version=given.version)
        return answer(documents.saved(given.policy.name, outcome))


def _previewed(
    stored: Sequence[StoredPolicy], policy: Policy, objects: RunningObjects
) -> PolicyPreview:
    before = snapshot_of({each.name: each.spec for each in stored})
    return preview(objects.items, before, edited(before, policy), defaulted=objects.defaulted)


async def _given(request: web.Request) -> SoundPolicy:
    """Raises `NotEditedError` when it is not sound."""
    try:
        given = msgspec.json.decode(await request.read(), type=EditedPolicy)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = f"the request: {str(error)[:200]}"
        raise NotEditedError(what, "send a text, and the version that it had") from error
    if len(given.version) > LONGEST_VERSION:
        raise NotEditedError("version: too long", "send the one that the list has")
    if (given.document is None) == (given.text == ""):
        raise NotEditedError("text: expected", "send a text, and the version that it had")
    # Of the longest text it takes some tenths of a second.
    return await asyncio.to_thread(_sound, given)


def _sound(given: EditedPolicy) -> SoundPolicy:
    document = read_policy(given.text) if given.document is None else given.document
    try:
        policy = policy_from_document(document)
    except PolicyError as error:
        what = with_lines(error.faults, given.text)
        raise NotEditedError(what, "correct these fields") from error
    except RecursionError as error:
        raise NotEditedError("the policy: nested too deeply", "write it flatter") from error
    if given.name and policy.name != given.name:
        what = with_lines([f"metadata.name: this policy is called {given.name[:80]}"], given.text)
        raise NotEditedError(what, "“New policy” makes another one beside it")
    return SoundPolicy(document=document, version=given.version, policy=policy)


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
