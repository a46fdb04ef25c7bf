"""The uplink over HTTP: `wire.REPORTS_PATH`."""

from collections.abc import Awaitable

from aiohttp import web
from nemutator_common import names
from nemutator_common.meters import Meter
from nemutator_common.wire import REPORTS_PATH, Ack

from nemutator_controller.answers import answer, refusal
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.ingest.batches import RefusedBatchError, decode
from nemutator_controller.ingest.callers import Caller
from nemutator_controller.ingest.receiving import ForbiddenNodeError, Receiver, TooManyNodesError

CALLER = web.RequestKey("caller", Caller)
"""Where the listener's gate leaves who asks."""

RETRY_AFTER_S = 5


class Uplink:
    def __init__(self, receiver: Receiver, *, meter: Meter) -> None:
        self._receiver = receiver
        self._meter = meter

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post(REPORTS_PATH, self._take),
            web.get(REPORTS_PATH, self._tell, allow_head=False),
        ]

    async def _take(self, request: web.Request) -> web.Response:
        try:
            batch = decode(await request.read())
            return await self._acknowledge(self._receiver.receive(batch, request[CALLER]))
        except RefusedBatchError as refused:
            return self._refuse(400, refused.reason, str(refused), "send what wire.py describes")

    async def _tell(self, request: web.Request) -> web.Response:
        node, epoch = request.query.get("node", ""), request.query.get("epoch", "")
        return await self._acknowledge(self._receiver.acknowledged(node, epoch, request[CALLER]))

    async def _acknowledge(self, ack: Awaitable[Ack]) -> web.Response:
        try:
            return answer(await ack)
        except ForbiddenNodeError:
            what = "this caller may not speak for that node"
            return self._refuse(403, "forbidden", what, "report under the node's own name")
        except TooManyNodesError:
            what = "there are too many nodes"
            return self._refuse(503, "nodes", what, "raise brain.most_nodes")
        except StoreUnavailableError as failure:
            what = f"nothing was stored: {failure}"
            return self._refuse(503, "store", what, "send it again later")

    def _refuse(self, status: int, reason: str, what: str, remedy: str) -> web.Response:
        self._meter.count(names.BATCHES_REFUSED, reason=reason)
        response = refusal(status, what, remedy)
        if status == 503:
            response.headers["Retry-After"] = str(RETRY_AFTER_S)
        return response
