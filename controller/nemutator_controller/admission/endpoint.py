"""Where the API server calls: POST /mutate, /mutate/namespaces for pods of opted-in namespaces, and /mutate/nodes for statuses
of nodes.

On the second path the server itself has selected the namespace, so that one which is younger than
our snapshot of the cluster is injected from its first pod on.
"""

from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.serving.plain_path import PlainAnswer
from nemutator_common.serving.plain_posts import PlainPost
from nemutator_common.serving.responses import RoutineResponse, error_response
from nemutator_common.traces import parent_of

from nemutator_controller.admission.client_certificates import ClientRefusedError, check_client
from nemutator_controller.admission.node_statuses import NodeStatusHandler
from nemutator_controller.admission.review_texts import text_of
from nemutator_controller.admission.reviews import ReviewError, decode, encode, printable
from nemutator_controller.admission.webhook_handler import WebhookHandler

PATH = "/mutate"
OPTED_IN = "/mutate/namespaces"
NODES = "/mutate/nodes"

CONTENT_TYPE = "application/json"

LONGEST_ERROR = 500
"""Characters: a certificate may have many names."""


@dataclass(frozen=True, slots=True)
class Webhook:
    handler: WebhookHandler
    process: Process
    clients: frozenset[str] = frozenset()
    """Names of client certificates that may call; empty: all that the listener lets in."""
    nodes: NodeStatusHandler | None = None

    def routes(self) -> list[web.RouteDef]:
        paths = (PATH, OPTED_IN) if self.nodes is None else (PATH, OPTED_IN, NODES)
        return [web.post(path, self._mutate) for path in paths]

    def at_once(self, post: PlainPost) -> PlainAnswer | None:
        """What needs no waiting, and is no refusal."""
        if post.path not in (PATH, OPTED_IN):
            return self._node_at_once(post)
        if self.process.tracer.collects:
            # One whose trace somebody follows has a span and a record of its own.
            parent = parent_of(post.trace_parent)
            if parent is None or parent.sampled:
                return None
        try:
            check_client(post.certificate, self.clients)
        except ClientRefusedError:
            return None
        opted_in = post.path == OPTED_IN
        known = self._known(post, opted_in=opted_in)
        if known is not None:
            body, afterwards = known
            return PlainAnswer(body, CONTENT_TYPE, record=afterwards)
        try:
            asked = decode(post.body, caller=post.remote)
        except ReviewError:
            return None
        answer = self.handler.answer_at_once(asked, post.body, opted_in=opted_in)
        if answer is None:
            return None
        response, afterwards = answer
        return PlainAnswer(encode(asked.uid, response), CONTENT_TYPE, record=afterwards)

    def _known(self, post: PlainPost, *, opted_in: bool) -> tuple[bytes, Callable[[], None]] | None:
        """An answer for which nothing is decoded, and what counts and logs it."""
        again, alike, body = self.handler.again, self.handler.alike, post.body
        # Where nothing is known, most pods are none of our business, and need not be looked for.
        is_any = len(again.known) > 0
        text = again.texts.known_text(body) if is_any else None
        answer = again.answer(text, post.remote, opted_in=opted_in) if text is not None else None
        if answer is None and len(alike.known):
            answer = alike.answer(body, post.remote, opted_in=opted_in)
        if answer is None and text is None and is_any:
            # Only now all of it is looked through.
            text = text_of(body)
            if text is not None:
                answer = again.answer(text, post.remote, opted_in=opted_in)
        return answer

    def _node_at_once(self, post: PlainPost) -> PlainAnswer | None:
        if self.nodes is None or post.path != NODES:
            return None
        try:
            check_client(post.certificate, self.clients)
            asked = decode(post.body, caller=post.remote)
        except (ClientRefusedError, ReviewError):
            return None
        return PlainAnswer(encode(asked.uid, self.nodes.answer(asked)), CONTENT_TYPE)

    async def _mutate(self, request: web.Request) -> web.Response:
        try:
            check_client(request.get_extra_info("peercert"), self.clients)
        except ClientRefusedError as error:
            self.process.meter.count(names.ADMISSION_FAILURES, reason="client")
            refused = error_response(403, printable(str(error), LONGEST_ERROR))
            refused.force_close()
            return refused
        try:
            asked = decode(await request.read(), caller=request.remote or "")
        except ReviewError as error:
            self.process.meter.count(names.ADMISSION_FAILURES, reason="review")
            return error_response(400, str(error))
        if self.nodes is not None and request.path == NODES:
            return RoutineResponse(
                body=encode(asked.uid, self.nodes.answer(asked)), content_type=CONTENT_TYPE
            )
        parent = parent_of(request.headers.get("traceparent"))
        answer = await self.handler.answer(asked, opted_in=request.path == OPTED_IN, parent=parent)
        # The handler logs what was done to a pod.
        return RoutineResponse(body=encode(asked.uid, answer), content_type=CONTENT_TYPE)
