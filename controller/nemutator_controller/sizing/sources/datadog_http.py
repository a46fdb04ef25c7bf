"""Datadog, asked over HTTP."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_common.clocks import Clock
from nemutator_common.secret import Secret
from nemutator_common.shipping.files import RereadFile

from nemutator_controller.http_accounts import AccountProof
from nemutator_controller.posts_http import NotTakenError, ask_with_headers
from nemutator_controller.sizing.sources.datadog_answers import (
    DatadogAnswer,
    DatadogUnavailableError,
    refusal,
    understood,
)
from nemutator_controller.sizing.sources.datadog_questions import (
    API_KEY,
    APPLICATION_KEY,
    HEADERS,
    PATH,
    DatadogQuestion,
)

DEADLINE_S = 60.0
LONGEST_ANSWER = 32 << 20


@dataclass(frozen=True, slots=True)
class DatadogKeys:
    """A `RequestAccount`."""

    api: RereadFile
    application: RereadFile

    def proof(self) -> AccountProof:
        api, application = Secret(self.api.text()), Secret(self.application.text())
        headers = {API_KEY: api.reveal(), APPLICATION_KEY: application.reveal()}
        return AccountProof(headers, (api, application))

    def was_refused(self) -> None:
        self.api.invalidate()
        self.application.invalidate()


@dataclass(frozen=True, slots=True, kw_only=True)
class DatadogHttp:
    """A `DatadogQueries`."""

    url: str
    """Before `/api/v2`."""
    keys: DatadogKeys
    clock: Clock
    deadline_s: float = DEADLINE_S
    longest: int = LONGEST_ANSWER

    async def ask(self, question: DatadogQuestion, *, units: Sequence[str]) -> DatadogAnswer:
        url, now = f"{self.url.rstrip('/')}{PATH}", self.clock.now()
        try:
            async with asyncio.timeout(self.deadline_s):
                answer = await ask_with_headers(
                    url, question.body(), HEADERS, longest=self.longest, account=self.keys
                )
                # Half a million numbers take a tenth of a second.
                return await asyncio.to_thread(
                    understood, answer.headers, answer.content, units=units, now=now
                )
        except TimeoutError:
            why = f"{url} has not answered within {self.deadline_s:g} s"
            raise DatadogUnavailableError(why) from None
        except NotTakenError as error:
            raise refusal(str(error), error.status, error.headers) from None
