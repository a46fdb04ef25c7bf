"""`/api/v1/advice` for people, and the same document for admission, which asks for news only."""

import hashlib

import msgspec
from aiohttp import web
from nemutator_common.clocks import Clock
from nemutator_common.wire import ADVICE_PATH

from nemutator_controller.answers import answer, unless_known
from nemutator_controller.sizing.documents import advice_list, essence
from nemutator_controller.sizing.ports import Requests
from nemutator_controller.sizing.usages import Usages


class AdviceApi:
    def __init__(self, usages: Usages, requests: Requests, *, clock: Clock) -> None:
        self._usages = usages
        self._requests = requests
        self._clock = clock

    def routes(self) -> list[web.RouteDef]:
        """For people and the command line."""
        return [web.get("/api/v1/advice", self._show)]

    def uplink_routes(self) -> list[web.RouteDef]:
        return [web.get(ADVICE_PATH, self._snapshot, allow_head=False)]

    async def _show(self, request: web.Request) -> web.Response:
        namespace = request.query.get("namespace") or None
        seen = self._usages.seen(now=self._clock.now())
        return answer(advice_list(seen, self._requests, namespace=namespace))

    async def _snapshot(self, request: web.Request) -> web.Response:
        """Its tag is weak: the same as long as no decision would be another."""
        advice = advice_list(self._usages.seen(now=self._clock.now()), self._requests)
        tag = hashlib.blake2b(msgspec.json.encode(essence(advice)), digest_size=16).hexdigest()
        return unless_known(request, advice, tag=tag)
