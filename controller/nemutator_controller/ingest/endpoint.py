"""The uplink over HTTP: `wire.REPORTS_PATH` and `wire.STREAMS_PATH`."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from aiohttp import web
from nemutator_common import names
from nemutator_common.meters import Meter
from nemutator_common.wire import REPORTS_PATH, STREAMS_PATH, Ack
from nemutator_common.wire_columns import COLUMNS_FORM, COLUMNS_TYPE

from nemutator_controller.access.callers import Caller
from nemutator_controller.access.gates import CALLER
from nemutator_controller.access.routes import LaterCall, ProcessRoute, served_to
from nemutator_controller.answers import answer, refusal
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.ingest.batches import RefusedBatchError, decode
from nemutator_controller.ingest.bodies import body_of
from nemutator_controller.ingest.columns import UnknownFormError, decode_columns
from nemutator_controller.ingest.long_batches import decode_long
from nemutator_controller.ingest.receiving import (
    ForbiddenNodeError,
    Receiver,
    StreamReceiver,
    TooManyNodesError,
)
from nemutator_controller.ingest.records import decode_records
from nemutator_controller.ingest.series_tables import UnknownSeriesError

RETRY_AFTER_S = 5

LONG = 512 << 10
"""Bytes of a body that is decoded and checked in a thread: it would hold the loop up."""


@dataclass(frozen=True, slots=True)
class Uplink:
    receiver: Receiver
    meter: Meter

    def routes(self) -> list[ProcessRoute]:
        return [
            served_to(
                {"agent", "local"}, web.post(REPORTS_PATH, self._take), later=self._take_later
            ),
            served_to(
                {"agent", "local"}, web.get(REPORTS_PATH, self._acknowledged, allow_head=False)
            ),
        ]

    async def _take(self, request: web.Request) -> web.Response:
        async def take() -> Ack:
            return await self._taken(request.content_type, await body_of(request), request[CALLER])

        return await _acknowledge(take(), self.meter)

    async def _take_later(self, call: LaterCall) -> web.Response:
        kind = call.content_type.partition(";")[0].strip().lower()
        return await _acknowledge(self._taken(kind, call.body, call.caller), self.meter)

    async def _taken(self, content_type: str, body: bytes, caller: Caller) -> Ack:
        columns = content_type == COLUMNS_TYPE
        if len(body) < LONG:
            form = decode_columns if columns else decode
            return await self.receiver.receive(lambda: form(body), caller)
        form = decode_columns if columns else decode_long
        batch = await asyncio.to_thread(self.receiver.checked, lambda: form(body), caller)
        return await self.receiver.receive_checked(batch)

    async def _acknowledged(self, request: web.Request) -> web.Response:
        node, epoch = request.query.get("node", ""), request.query.get("epoch", "")
        return await _acknowledge(
            self.receiver.acknowledged(node, epoch, request[CALLER]), self.meter
        )


@dataclass(frozen=True, slots=True)
class Streams:
    receiver: StreamReceiver
    meter: Meter

    def routes(self) -> list[ProcessRoute]:
        path = f"{STREAMS_PATH}{{stream}}"
        routes = web.post(path, self._take), web.get(path, self._acknowledged, allow_head=False)
        return [served_to({"agent", "admission", "local"}, route) for route in routes]

    async def _take(self, request: web.Request) -> web.Response:
        stream = request.match_info["stream"]
        if stream not in self.receiver.writers:
            return self._unknown()

        async def take() -> Ack:
            batch = decode_records(await body_of(request))
            return await self.receiver.receive(stream, batch, request[CALLER])

        return await _acknowledge(take(), self.meter)

    async def _acknowledged(self, request: web.Request) -> web.Response:
        stream = request.match_info["stream"]
        if stream not in self.receiver.writers:
            return self._unknown()
        writer, epoch = request.query.get("writer", ""), request.query.get("epoch", "")
        return await _acknowledge(
            self.receiver.acknowledged(stream, writer, epoch, request[CALLER]), self.meter
        )

    def _unknown(self) -> web.Response:
        return _refuse(self.meter, 404, "stream", "no such stream", "send one that wire.py names")


_CLOCKS = "set the clock of that machine, or of the brain's, so that both agree"


async def _acknowledge(ack: Awaitable[Ack], meter: Meter) -> web.Response:
    try:
        return answer(await ack)
    except RefusedBatchError as refused:
        remedy = _CLOCKS if refused.reason == "future" else "send what wire.py describes"
        return _refuse(meter, 400, refused.reason, str(refused), remedy)
    except ForbiddenNodeError:
        what = "this caller may not speak for that node or writer"
        return _refuse(meter, 403, "forbidden", what, "report under the caller's own name")
    except UnknownFormError:
        what = f"this form of reports is not known; {COLUMNS_TYPE} {COLUMNS_FORM} and JSON are"
        return _refuse(meter, 415, "form", what, "send JSON, or one that an Ack names")
    except UnknownSeriesError:
        what = "series without a name: this brain does not have their names, or not any more"
        return _refuse(
            meter, 409, "unknown_series", what, "ask how many it has, and name the others"
        )
    except TooManyNodesError:
        return _refuse(meter, 503, "nodes", "there are too many nodes", "raise brain.most_nodes")
    except StoreUnavailableError as failure:
        what = f"nothing was stored: {failure}"
        return _refuse(meter, 503, "store", what, "send it again later")


def _refuse(meter: Meter, status: int, reason: str, what: str, remedy: str) -> web.Response:
    meter.count(names.BATCHES_REFUSED, reason=reason)
    response = refusal(status, what, remedy)
    if status == 503:
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
    return response
