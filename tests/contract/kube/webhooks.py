"""An admission webhook with a certificate of its own, and how to have a server call it."""

import asyncio
import base64
import secrets
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal

from aiohttp import web

from tests.contract.kube.places import Place
from tests.contract.kube.waiting import until
from tests.fakes.kube.certificates import AuthorityFiles
from tests.fakes.kube.conversation import Conversation

Json = dict[str, Any]
Which = Literal["mutating", "validating"]

CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations"
SERVED_AS: Final = "hook.nemutator.svc"
PROBE: Final = "contract.nemutator.io/probe"


class Hook:
    """Answers as the test says and keeps what it was asked."""

    def __init__(self, authority: AuthorityFiles) -> None:
        self.asked: list[Json] = []
        self.answer: Callable[[Json], Json] = lambda request: {"allowed": True}
        self.meanwhile: Callable[[], Awaitable[None]] | None = None
        """Done before the next answer, and once."""
        self.review: Json = {}
        self.silent = False
        self.authority = authority
        self.port = 0

    async def serve(self, request: web.Request) -> web.Response:
        if self.silent:
            await asyncio.Event().wait()
        asked = (await request.json())["request"]
        self.asked.append(asked)
        if self.meanwhile is not None:
            first, self.meanwhile = self.meanwhile, None
            await first()
        return self._answered(asked, self.answer(asked), self.review)

    async def tell_that_it_is_called(self, request: web.Request) -> web.Response:
        asked = (await request.json())["request"]
        return self._answered(asked, {"allowed": False, "status": {"message": "called"}}, {})

    def _answered(self, asked: Json, answer: Json, review: Json) -> web.Response:
        head = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        return web.json_response({**head, "response": {"uid": asked["uid"], **answer}, **review})

    def client(self, path: str = "mutate") -> Json:
        bundle = base64.b64encode(self.authority.pem).decode()
        return {"url": f"https://127.0.0.1:{self.port}/{path}", "caBundle": bundle}

    def entry(self, name: str = "pods.contract.nemutator.io", **more: Any) -> Json:
        """A webhook of a configuration that calls this server for each pod that is created."""
        return {
            "name": name,
            "clientConfig": self.client(),
            "rules": [rule(operations=["CREATE"], resources=["pods"])],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **more,
        }


def rule(
    *, operations: Iterable[str], resources: Iterable[str], group: str = "", scope: str = "*"
) -> Json:
    return {
        "operations": [*operations],
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "resources": [*resources],
        "scope": scope,
    }


@asynccontextmanager
async def serving() -> AsyncIterator[Hook]:
    with tempfile.TemporaryDirectory() as folder:
        hook = Hook(AuthorityFiles(Path(folder), "webhook-ca"))
        application = web.Application()
        application.router.add_post("/mutate", hook.serve)
        application.router.add_post("/probe", hook.tell_that_it_is_called)
        runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        context = hook.authority.server_context(SERVED_AS)
        # The real server shows the certificate of another authority to whoever asks for one.
        context.verify_mode = ssl.CERT_NONE
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        hook.port = runner.addresses[0][1]
        yield hook
        await runner.cleanup()


@asynccontextmanager
async def configured(
    api: Conversation, place: Place, hook: Hook, entries: Sequence[Json], which: Which = "mutating"
) -> AsyncIterator[str]:
    """Have the server call *entries* for what is in *place*; gives the configuration's path.

    A real server takes notice after a while: all entries at once, the first of which is asked about
    nothing but probes.
    """
    name = f"contract-{secrets.token_hex(4)}"
    ours = {"matchLabels": {"kubernetes.io/metadata.name": place.namespace}}
    probe = hook.entry(
        "probe.contract.nemutator.io",
        clientConfig=hook.client("probe"),
        rules=[rule(operations=["CREATE"], resources=["configmaps"])],
        objectSelector={"matchLabels": {PROBE: name}},
    )
    webhooks = [{"namespaceSelector": ours, **entry} for entry in (probe, *entries)]
    path = CONFIGURATIONS.format(which)
    await api.create(path, {"metadata": {"name": name}, "webhooks": webhooks})

    async def called() -> bool:
        body = {"metadata": {"generateName": "probe-", "labels": {PROBE: name}}}
        maps = f"/api/v1/namespaces/{place.namespace}/configmaps"
        _, answer = await api.ask("POST", maps, body, dryRun="All")
        return "denied the request: called" in answer.get("message", "")

    try:
        await until(called, "the server calls the webhook")
        hook.asked.clear()
        yield f"{path}/{name}"
    finally:
        await api.ask("DELETE", f"{path}/{name}")
