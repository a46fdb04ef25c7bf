"""`/api/v1/profiles`: asking for profiles, following them, and looking at them."""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from aiohttp import web
from nemutator_common.process import Process
from nemutator_common.profiles import flamegraph, folded, pprof
from nemutator_common.profiles.difference import difference
from nemutator_common.profiles.sums import NotAlikeError

from nemutator_controller.access.routes import AllowedRoute, allowed
from nemutator_controller.answers import answer, refusal
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.database.refusals import explained
from nemutator_controller.profiles.api_requests import InvalidProfileRequestError, decode, locate
from nemutator_controller.profiles.documents import (
    NamedProfile,
    decoded,
    list_document,
    profile_document,
)
from nemutator_controller.profiles.outcomes import is_id
from nemutator_controller.profiles.ports import KnownPods, ProfileStore
from nemutator_controller.profiles.profile_queue import (
    MOST_PER_NODE,
    ProfileQueue,
    TooManyProfilesError,
)
from nemutator_controller.profiles.records import ProfileRecord
from nemutator_controller.profiles.target_offers import TargetOffers
from nemutator_controller.queries import limit_in

PATH = "/api/v1/profiles"

LARGEST_QUESTION = 16 << 10
DEFAULT_LISTED = 100
MOST_LISTED = 500
RENDER_S = 20.0

Stored = tuple[ProfileRecord, bytes]

Render = Callable[[NamedProfile, ProfileRecord], web.Response]


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
    _rendering: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """One at a time: each may take a core for seconds."""

    def routes(self) -> list[AllowedRoute]:
        one = f"{PATH}/{{id}}"
        return [
            allowed("get", "profiles", web.get(PATH, explained(self._list))),
            allowed("create", "profiles", web.post(PATH, explained(self._ask))),
            allowed("get", "profiles", web.get(one, explained(self._show))),
            allowed("get", "profiles", web.get(f"{one}/pprof", explained(self._pprof))),
            allowed("get", "profiles", web.get(f"{one}/folded", explained(self._folded))),
            allowed("get", "profiles", web.get(f"{one}/flamegraph", explained(self._flamegraph))),
            allowed(
                "get",
                "profiles",
                web.get(f"{one}/difference/{{after}}", explained(self._compared)),
            ),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=DEFAULT_LISTED, most=MOST_LISTED)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST_LISTED}", "leave it out for 100")
        newest = await self.store.newest(limit)
        links = [self.link(profile.id) for profile in newest]
        return answer(list_document(newest, links, now=self.process.clock.now()))

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
        return answer(self._document(profile), status=202)

    async def _show(self, request: web.Request) -> web.Response:
        profile = await self._found(request)
        if profile is None:
            return _no_such()
        return answer(self._document(profile))

    def _document(self, profile: ProfileRecord) -> dict[str, object]:
        link, now = self.link(profile.id), self.process.clock.now()
        return profile_document(profile, link=link, now=now)

    async def _found(self, request: web.Request) -> ProfileRecord | None:
        return await self._named(request.match_info["id"])

    async def _named(self, identity: str) -> ProfileRecord | None:
        return await self.queue.find(identity) if is_id(identity) else None

    async def _pprof(self, request: web.Request) -> web.Response:
        found = await self._stored(request.match_info["id"])
        if isinstance(found, web.Response):
            return found
        profile, content = found
        return _file(content, "application/octet-stream", f"{profile.id}.pb.gz")

    async def _folded(self, request: web.Request) -> web.Response:
        def render(named: NamedProfile, profile: ProfileRecord) -> web.Response:
            return _file(folded.render(named).encode(), "text/plain", f"{profile.id}.folded")

        return await self._rendered(request, render)

    async def _flamegraph(self, request: web.Request) -> web.Response:
        def render(named: NamedProfile, profile: ProfileRecord) -> web.Response:
            return _page(flamegraph.render(named, title=profile.title))

        return await self._rendered(request, render)

    async def _rendered(self, request: web.Request, render: Render) -> web.Response:
        found = await self._stored(request.match_info["id"])
        if isinstance(found, web.Response):
            return found
        profile, content = found
        return await self._drawn(lambda: render(decoded(content, profile.measure), profile))

    async def _compared(self, request: web.Request) -> web.Response:
        """One flame graph of two profiles, the one asked for being the earlier."""
        before = await self._stored(request.match_info["id"])
        if isinstance(before, web.Response):
            return before
        after = await self._stored(request.match_info["after"])
        if isinstance(after, web.Response):
            return after
        try:
            return await self._drawn(lambda: _difference(before, after))
        except NotAlikeError as error:
            return refusal(400, f"these two cannot be compared: {error}", "name two of one measure")

    async def _drawn(self, draw: Callable[[], web.Response]) -> web.Response:
        try:
            async with asyncio.timeout(RENDER_S), self._rendering:
                return await asyncio.to_thread(draw)
        except TimeoutError:
            return refusal(503, "drawing it takes too long", "take /pprof to `go tool pprof`")
        except pprof.MalformedProfileError as error:
            return refusal(500, f"what is stored is no profile: {error}", "profile once more")

    async def _stored(self, identity: str) -> Stored | web.Response:
        profile = await self._named(identity)
        if profile is None:
            return _no_such()
        content = await self.store.pprof(profile.id) if profile.state == "done" else None
        if content is None:
            why = f": {profile.reason}" if profile.reason else ""
            remedy = profile.remedy or "wait until it is done, or ask again"
            return refusal(409, f"it is {profile.state}{why}", remedy)
        return profile, content


def _file(content: bytes, content_type: str, name: str | None) -> web.Response:
    headers = {"Cache-Control": "no-store"}
    if name is not None:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    charset = "utf-8" if content_type.startswith("text/") else None
    return web.Response(body=content, content_type=content_type, charset=charset, headers=headers)


def _page(content: str) -> web.Response:
    response = _file(content.encode(), "text/html", None)
    # Only its own script and style may run: names in it come from the profiled program.
    response.headers["Content-Security-Policy"] = flamegraph.CONTENT_SECURITY_POLICY
    return response


def _difference(before: Stored, after: Stored) -> web.Response:
    (earlier, _), (later, _) = before, after
    found = difference(*(decoded(content, profile.measure) for profile, content in (before, after)))
    alike = earlier.title == later.title
    return _page(
        flamegraph.render_difference(
            found,
            title=later.title if alike else f"{earlier.title} → {later.title}",
            before=_when(earlier) if alike else f"{earlier.title}, {_when(earlier)}",
            after=_when(later) if alike else f"{later.title}, {_when(later)}",
        )
    )


def _when(profile: ProfileRecord) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime(profile.asked_at))


def _no_such() -> web.Response:
    return refusal(404, "no such profile", "`GET /api/v1/profiles` lists those that are kept")
