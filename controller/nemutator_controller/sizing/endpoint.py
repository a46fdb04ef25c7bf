"""`/api/v1/advice` for people, and for admission, which gets it only when it has changed."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import msgspec
from aiohttp import web
from nemutator_common.admission_snapshots import ADVICE_PATH, AdviceSnapshot
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute, ProcessRoute, allowed, served_to
from nemutator_controller.answers import answer, long_answer, made_unless_known, refusal
from nemutator_controller.sizing.advice_pages import (
    AdviceNotAskedWellError,
    AskedAdvice,
    advice_page,
    asked_advice,
)
from nemutator_controller.sizing.all_advice import AT_ONCE, gather_advice
from nemutator_controller.sizing.documents import Advice, AdviceList, for_admission, is_listed
from nemutator_controller.sizing.histogram_documents import keys_of, use_histograms
from nemutator_controller.sizing.hourly.recommended_hours import with_hourly
from nemutator_controller.sizing.hourly.requests import HourlyRequest
from nemutator_controller.sizing.keys import ContainerKey, Workload
from nemutator_controller.sizing.ports import (
    GrowingMemory,
    KnownHourly,
    Requests,
    RuntimeFlags,
    SizedElsewhere,
    TemplateImages,
)
from nemutator_controller.sizing.runtime_remarks import runtime_remarks
from nemutator_controller.sizing.similar import with_similar
from nemutator_controller.sizing.usages import Usages

NOTHING: Mapping[str, str] = MappingProxyType({})


class NobodyElse:
    """A `SizedElsewhere` where there are no autoscalers."""

    def now(self) -> Mapping[Workload, Mapping[str, str]]:
        return {}


NOWHERE_ELSE = NobodyElse()


class NoFlags:
    """A `RuntimeFlags` where nobody knows how containers are started."""

    def of_each(self, keys: Sequence[ContainerKey]) -> list[tuple[str, ...]]:
        return [()] * len(keys)


NO_FLAGS = NoFlags()


class NoImages:
    """A `TemplateImages` where there are no templates."""

    def of_each(self, keys: Sequence[ContainerKey]) -> list[str]:
        return [""] * len(keys)


NO_IMAGES = NoImages()


class NobodyHourly:
    """A `KnownHourly` where no policy follows use hourly."""

    def now(self) -> Mapping[ContainerKey, HourlyRequest]:
        return {}


NOBODY_HOURLY = NobodyHourly()


@dataclass(frozen=True, slots=True)
class AdviceApi:
    usages: Usages
    requests: Requests
    growing: GrowingMemory
    process: Process
    elsewhere: SizedElsewhere = NOWHERE_ELSE
    flags: RuntimeFlags = NO_FLAGS
    images: TemplateImages = NO_IMAGES
    hourly: KnownHourly = NOBODY_HOURLY

    def routes(self) -> list[AllowedRoute]:
        """For people and the command line."""
        histograms = web.get("/api/v1/advice/histograms", self._histograms)
        return [
            allowed("get", "advice", web.get("/api/v1/advice", self._show), narrows=True),
            allowed("get", "advice", histograms, narrows=True),
        ]

    def uplink_routes(self) -> list[ProcessRoute]:
        route = web.get(ADVICE_PATH, self._snapshot, allow_head=False)
        return [served_to({"admission", "local"}, route)]

    async def _show(self, request: web.Request) -> web.Response:
        namespace = request.query.get("namespace") or None
        try:
            asked = asked_advice(request.query)
            if asked is not None:
                return await self._page(request, namespace, asked)
        except AdviceNotAskedWellError as error:
            return refusal(400, str(error), "see docs/advice.md")
        waiting = await self._made(namespace)

        async def parts() -> AsyncIterator[bytes]:
            for some in _taken(waiting):
                yield _items(self._remarked(some))

        return long_answer(AdviceList(items=[]), parts())

    async def _page(
        self, request: web.Request, namespace: str | None, asked: AskedAdvice
    ) -> web.Response:
        made = await self._made(namespace, asked.workload)
        if asked.workload and any(one.state == "not_yet" for one in made):
            # Others of its image may say what it needs.
            made = await self._made(namespace)
        # In a thread: of 100 000 containers, order and totals take longer than others can wait.
        page = await asyncio.to_thread(advice_page, made, asked)
        del made
        empty = replace(page, items=[])
        digest = hashlib.blake2b(msgspec.json.encode(empty), digest_size=16)
        encoded: list[bytes] = []
        for some in _slices(page.items):
            encoded.append(_items(self._remarked(some)))
            digest.update(encoded[-1])
            await self.process.clock.sleep(0)

        async def parts() -> AsyncIterator[bytes]:
            for part in encoded:
                yield part

        return made_unless_known(
            request, lambda: long_answer(empty, parts()), tag=digest.hexdigest()
        )

    async def _made(self, namespace: str | None, workload: str | None = None) -> list[Advice]:
        """What people are shown, without remarks."""
        found = await gather_advice(
            self.usages,
            self.requests,
            growing=self.growing,
            clock=self.process.clock,
            namespace=namespace,
            workload=workload,
        )
        now = self.process.clock.now()
        listed = [one for one in found.items if is_listed(one, now=now)]
        del found
        images: list[str] = []
        for some in _slices(listed):
            images += self.images.of_each(_keys(some))
            await self.process.clock.sleep(0)
        # Only of what is asked for: whoever may see one namespace learns nothing of others.
        return with_hourly(with_similar(listed, images), self.hourly.now())

    async def _histograms(self, request: web.Request) -> web.Response:
        query, now = request.query, self.process.clock.now()
        if not (workload := query.get("workload")):
            return refusal(400, "workload: expected a name, or KIND/NAME", "name one workload")
        keys = keys_of(
            self.usages.keys(),
            namespace=query.get("namespace") or None,
            workload=workload,
            container=query.get("container") or None,
        )
        kept, days = self.usages.kept(keys), self.usages.knobs.window_days
        return answer(use_histograms(kept, now=now, window_days=days))

    def _remarked(self, several: Sequence[Advice]) -> list[Advice]:
        return [
            msgspec.structs.replace(one, remarks=tuple(runtime_remarks(one, flags)))
            if flags
            else one
            for one, flags in zip(several, self.flags.of_each(_keys(several)), strict=True)
        ]

    async def _snapshot(self, request: web.Request) -> web.Response:
        found = await gather_advice(
            self.usages, self.requests, growing=self.growing, clock=self.process.clock
        )
        elsewhere, tag, waiting = self.elsewhere.now(), found.tag, found.items
        del found

        async def parts() -> AsyncIterator[bytes]:
            for some in _taken(waiting):
                yield _items(
                    [
                        for_admission(
                            one, elsewhere.get((one.namespace, one.owner_kind, one.owner), NOTHING)
                        )
                        for one in some
                    ]
                )

        return made_unless_known(
            request,
            lambda: long_answer(AdviceSnapshot(()), parts()),
            tag=tag + _digest(elsewhere),
        )


def _slices(advice: Sequence[Advice]) -> Iterator[Sequence[Advice]]:
    for begin in range(0, len(advice), AT_ONCE):
        yield advice[begin : begin + AT_ONCE]


def _taken(advice: list[Advice]) -> Iterator[Sequence[Advice]]:
    """The same, of which nothing is left: to let go of all at once would hold up everybody else for as long as it takes to encode."""
    advice.reverse()
    while some := advice[: -AT_ONCE - 1 : -1]:
        del advice[-len(some) :]
        yield some


def _items(several: Sequence[object]) -> bytes:
    return msgspec.json.encode(several)[1:-1]


def _keys(advice: Sequence[Advice]) -> list[ContainerKey]:
    return [ContainerKey(one.namespace, one.owner_kind, one.owner, one.container) for one in advice]


def _digest(elsewhere: Mapping[Workload, Mapping[str, str]]) -> str:
    if not elsewhere:
        return ""
    words = repr(sorted((key, sorted(why.items())) for key, why in elsewhere.items()))
    return hashlib.blake2b(words.encode(errors="surrogatepass"), digest_size=8).hexdigest()
