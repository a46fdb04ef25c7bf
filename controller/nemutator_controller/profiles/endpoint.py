"""`/api/v1/profiles`: asking for profiles, following them, and looking at them."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aiohttp import web
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.database.refusals import explained
from nemutator_controller.profiles.api_requests import InvalidProfileRequestError, decode, locate
from nemutator_controller.profiles.documents import profile_document
from nemutator_controller.profiles.kept_endpoint import KeptProfilePaths
from nemutator_controller.profiles.ports import KnownPods, ProfileStore
from nemutator_controller.profiles.profile_queue import (
    MOST_PER_NODE,
    ProfileQueue,
    TooManyProfilesError,
)
from nemutator_controller.profiles.records import ProfileRecord
from nemutator_controller.profiles.target_offers import TargetOffers

PATH = "/api/v1/profiles"

LARGEST_QUESTION = 16 << 10


@dataclass(frozen=True, slots=True)
class ProfilesApi:
    queue: ProfileQueue
    store: ProfileStore
    nodes: Callable[[], Sequence[ReportedNode]]
    """The nodes that report now."""
    pods: KnownPods
    targets: TargetOffers
    link: Callable[[str], str]
    """Where a browser finds the flame graph of an id."""
    process: Process

    def routes(self) -> list[AllowedRoute]:
        ours = OurProfiles(self.queue, self.store)
        kept = KeptProfilePaths(lambda _: ours, lambda _, one: self.link(one), self.process)
        return [
            *(allowed("get", "profiles", route) for route in kept.routes(PATH)),
            allowed("create", "profiles", web.post(PATH, explained(self._ask))),
        ]

    async def _ask(self, request: web.Request) -> web.Response:
        if request.content_length is not None and request.content_length > LARGEST_QUESTION:
            return refusal(
                413,
                "the question is too long",
                "send target, measure, seconds, hz and threads only",
            )
        try:
            asked = decode(await request.read())
            target = await self.targets.resolved(asked.target)
            located = locate(target, self.nodes(), self.pods)
            profile = ProfileRecord(
                id=secrets.token_hex(8),
                node=located.node,
                target=located.target,
                pod=located.pod,
                owner=located.owner,
                program=located.program,
                measure=asked.measure,
                seconds=asked.seconds,
                hz=asked.hz,
                threads=asked.threads,
                asked_at=self.process.clock.now(),
            )
            await self.queue.ask(profile)
        except InvalidProfileRequestError as wrong:
            return refusal(wrong.status, str(wrong), wrong.remedy)
        except TooManyProfilesError:
            what = f"{MOST_PER_NODE} profiles wait for that node, or very many for others"
            return refusal(429, what, "wait until some are done: `GET /api/v1/profiles` lists them")
        link, now = self.link(profile.id), self.process.clock.now()
        return answer(profile_document(profile, link=link, now=now), status=202)


@dataclass(frozen=True, slots=True)
class OurProfiles:
    """The `ReadProfiles` of this cluster."""

    queue: ProfileQueue
    store: ProfileStore

    async def newest(self, most: int) -> Sequence[ProfileRecord]:
        return await self.store.newest(most)

    async def find(self, identity: str) -> ProfileRecord | None:
        return await self.queue.find(identity)

    async def pprof(self, identity: str) -> bytes | None:
        return await self.store.pprof(identity)
