"""Asks Datadog for what containers used, with nothing of ours installed anywhere.

On the standard library's client, as all that a command asks. Redirects are not followed: they would send keys to
somebody else.
"""

import http.client
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from urllib.parse import SplitResult

from nemutator_common.secret import MASK
from nemutator_controller.sizing.sources.datadog_answers import (
    DatadogAnswer,
    DatadogUnavailableError,
    refusal,
    understood,
)
from nemutator_controller.sizing.sources.datadog_questions import HEADERS, PATH, DatadogQuestion

from nemutator_ctl.advise.whole_exchanges import asked
from nemutator_ctl.exchanges import LARGEST_ANSWER, reason

LONGEST_SAID = 200


@dataclass(frozen=True, slots=True)
class DatadogClient:
    """A `DatadogQueries`. It blocks: a command asks one question after another."""

    address: SplitResult
    keys: Mapping[str, str] = field(repr=False)
    """By header."""
    timeout_s: float = 60.0

    async def ask(self, question: DatadogQuestion, *, units: Sequence[str]) -> DatadogAnswer:
        where = f"{self.address.hostname}"
        target = f"{self.address.path.rstrip('/')}{PATH}"
        headers = {"Connection": "close", **HEADERS, **self.keys}
        try:
            with closing(self._connection()) as connection:
                response, content = asked(
                    connection, target, body=question.body(), headers=headers,
                    most=LARGEST_ANSWER, within_s=self.timeout_s,
                )  # fmt: skip
        except (OSError, http.client.HTTPException) as error:
            raise DatadogUnavailableError(f"{where}: {reason(error)}") from error
        told = {name.lower(): value for name, value in response.getheaders()}
        if response.status != 200:
            said = content[:LONGEST_SAID].decode(errors="replace")
            for key in self.keys.values():
                said = said.replace(key, MASK)
            raise refusal(f"{where} answers {response.status}: {said}", response.status, told)
        if len(content) > LARGEST_ANSWER:
            raise refusal(f"{where} answers more than {LARGEST_ANSWER} bytes", 200, told)
        return understood(told, content, units=units, now=time.time())

    def _connection(self) -> http.client.HTTPConnection:
        host, port = str(self.address.hostname), self.address.port
        if self.address.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self.timeout_s)
        return http.client.HTTPSConnection(
            host, port, timeout=self.timeout_s, context=ssl.create_default_context()
        )
