"""The fake API server as a transport, without HTTP."""

import contextlib
import json
from typing import Any

from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import UnavailableError, from_answer

from tests.fakes.kube.api import Answer, Api, Request
from tests.fakes.kube.authorization import MASTERS, User
from tests.fakes.kube.statuses import ApiError


class InMemory:
    """A `Transport` for one administrator, without watches."""

    def __init__(self) -> None:
        self._api = Api()
        self._administrator = User("admin", (MASTERS,))

    async def send(self, call: Call) -> bytes:
        request = Request(
            method=call.method,
            path=call.path,
            query=call.query,
            accept=call.accept,
            content_type=call.content_type if call.body else "",
            body=call.body,
            certificate=self._administrator,
        )
        try:
            answer = await self._api.handle(request)
        except ApiError as error:
            status = error.status
            raise from_answer(call.asked, status["code"], json.dumps(status).encode()) from error
        assert isinstance(answer, Answer)
        return json.dumps(answer.body).encode()

    def stream(self, call: Call, *, idle_s: float) -> contextlib.AbstractAsyncContextManager[Any]:
        raise UnavailableError(call.asked, "nothing can be watched here")
