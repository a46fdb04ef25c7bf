"""Where the API server asks: POST /mutate, or /mutate/namespaces for pods of opted-in namespaces.

The second path says what the server has seen by its own selector, so that a namespace which is
younger than our snapshot of the cluster is injected from its first pod on.
"""

from dataclasses import dataclass

from aiohttp import web
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.serving.responses import RoutineResponse, error_response

from nemutator_controller.admission.reviews import ReviewError, decode, encode
from nemutator_controller.admission.webhook_handler import WebhookHandler

PATH = "/mutate"
OPTED_IN = "/mutate/namespaces"


@dataclass(frozen=True, slots=True)
class Webhook:
    handler: WebhookHandler
    process: Process

    def routes(self) -> list[web.RouteDef]:
        return [web.post(PATH, self._mutate), web.post(OPTED_IN, self._mutate)]

    async def _mutate(self, request: web.Request) -> web.Response:
        body = await request.read()
        try:
            asked = decode(body)
        except ReviewError as error:
            self.process.meter.count(names.ADMISSION_FAILURES, reason="review")
            return error_response(400, str(error))
        answer = await self.handler.answer(asked, opted_in=request.path == OPTED_IN)
        # The handler logs what was done to a pod.
        return RoutineResponse(body=encode(asked.uid, answer), content_type="application/json")
