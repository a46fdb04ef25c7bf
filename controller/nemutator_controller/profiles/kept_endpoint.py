"""Shows profiles that are kept, whoever keeps them: lists, documents, and what they are drawn as."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import web
from nemutator_common.process import Process
from nemutator_common.profiles import flamegraph, folded, pprof
from nemutator_common.profiles.difference import difference
from nemutator_common.profiles.sums import NotAlikeError

from nemutator_controller.answers import answer, refusal
from nemutator_controller.database.refusals import explained
from nemutator_controller.profiles.documents import (
    NamedProfile,
    decoded,
    list_document,
    profile_document,
)
from nemutator_controller.profiles.outcomes import is_id
from nemutator_controller.profiles.ports import ReadProfiles
from nemutator_controller.profiles.records import ProfileRecord
from nemutator_controller.queries import limit_in

DEFAULT_LISTED = 100
MOST_LISTED = 500
RENDER_S = 20.0

Stored = tuple[ProfileRecord, bytes]

Render = Callable[[NamedProfile, ProfileRecord], web.Response]


@dataclass(frozen=True, slots=True)
class KeptProfilePaths:
    profiles: Callable[[web.Request], ReadProfiles]
    """Those that a request is about."""
    link: Callable[[web.Request, str], str]
    """Where a browser finds the flame graph of an id."""
    process: Process
    _rendering: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    """One at a time: each may take a core for seconds."""

    def routes(self, path: str) -> list[web.RouteDef]:
        one = f"{path}/{{id}}"
        return [
            web.get(path, explained(self._list)),
            web.get(one, explained(self._show)),
            web.get(f"{one}/pprof", explained(self._pprof)),
            web.get(f"{one}/folded", explained(self._folded)),
            web.get(f"{one}/flamegraph", explained(self._flamegraph)),
            web.get(f"{one}/difference/{{after}}", explained(self._compared)),
        ]

    async def _list(self, request: web.Request) -> web.Response:
        limit = limit_in(request.query.get("limit"), usual=DEFAULT_LISTED, most=MOST_LISTED)
        if limit is None:
            return refusal(400, f"limit: expected 1 to {MOST_LISTED}", "leave it out for 100")
        newest = await self.profiles(request).newest(limit)
        links = [self.link(request, profile.id) for profile in newest]
        return answer(list_document(newest, links, now=self.process.clock.now()))

    async def _show(self, request: web.Request) -> web.Response:
        profile = await self._named(request, request.match_info["id"])
        if profile is None:
            return _no_such()
        link, now = self.link(request, profile.id), self.process.clock.now()
        return answer(profile_document(profile, link=link, now=now))

    async def _named(self, request: web.Request, identity: str) -> ProfileRecord | None:
        return await self.profiles(request).find(identity) if is_id(identity) else None

    async def _pprof(self, request: web.Request) -> web.Response:
        found = await self._stored(request, request.match_info["id"])
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
        found = await self._stored(request, request.match_info["id"])
        if isinstance(found, web.Response):
            return found
        profile, content = found
        return await self._drawn(lambda: render(decoded(content, profile.measure), profile))

    async def _compared(self, request: web.Request) -> web.Response:
        """One flame graph of two profiles, the one asked for being the earlier."""
        before = await self._stored(request, request.match_info["id"])
        if isinstance(before, web.Response):
            return before
        after = await self._stored(request, request.match_info["after"])
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

    async def _stored(self, request: web.Request, identity: str) -> Stored | web.Response:
        profile = await self._named(request, identity)
        if profile is None:
            return _no_such()
        content = None
        if profile.state == "done":
            content = await self.profiles(request).pprof(profile.id)
            if content is None:
                what = "it is done, and its content is not where this brain keeps such"
                return refusal(409, what, "look for it in the bucket of brain.objects")
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
