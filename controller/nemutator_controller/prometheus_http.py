"""Prometheus, Thanos, Mimir or VictoriaMetrics, asked over HTTP."""

import asyncio
import base64
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from nemutator_common.clocks import Clock
from nemutator_common.secret import Secret
from nemutator_common.shipping.files import RereadFile
from nemutator_common.shipping.links import LinkUnavailableError

from nemutator_controller.posts_http import NotTakenError, ask
from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusUnavailableError,
    UnreadablePrometheusError,
    read_answer,
)

DEADLINE_S = 30.0
LONGEST_ANSWER = 16 << 20
"""A sample is some 25 bytes: 600 000 of them."""

_UNAUTHORISED = (401, 403)
_HEADERS = {"Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusHttp:
    url: str
    """Before `/api/v1/query`."""
    clock: Clock
    user: str = ""
    """With it, *secret* is a password; without, a bearer token."""
    secret: RereadFile | None = None
    tenant: str = ""
    ca: RereadFile | None = None
    """Who signs its certificate, where the machine's own authorities do not."""
    certificate: tuple[Path, Path] | None = None
    deadline_s: float = DEADLINE_S
    longest: int = LONGEST_ANSWER

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        """A vector, as of *at* or of now; each of its series has one sample."""
        asked = {} if at is None else {"time": f"{at:.3f}"}
        return await self._ask("query", {"query": expression, **asked})

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        """A matrix: *expression* at *begin*, and then every *step_s* up to *end*.

        Raises the two errors above; there is no other one, and always a deadline.
        """
        moments = {"start": f"{begin:.3f}", "end": f"{end:.3f}", "step": f"{step_s:.3f}"}
        return await self._ask("query_range", {"query": expression, **moments})

    async def _ask(self, path: str, form: dict[str, str]) -> PrometheusAnswer:
        try:
            secret = None if self.secret is None else Secret(self.secret.text())
        except LinkUnavailableError as error:
            raise PrometheusUnavailableError(str(error)) from error
        credentials = self._credentials(secret)
        # Prometheus gives up when we do: it would compute on for nobody.
        form["timeout"] = f"{self.deadline_s:.3f}"
        try:
            async with asyncio.timeout(self.deadline_s):
                content = await ask(
                    f"{self.url.rstrip('/')}/api/v1/{path}",
                    # As a form: what names many series is longer than a line of HTTP may be.
                    urlencode(form).encode(),
                    _HEADERS | self._further_headers(credentials),
                    longest=self.longest,
                    secrets=[one for one in (secret, credentials) if one is not None],
                    ca=self.ca,
                    certificate=self.certificate,
                )
                # Half a million samples take a tenth of a second.
                return await asyncio.to_thread(read_answer, content, now=self.clock.now())
        except TimeoutError:
            why = f"{self.url} has not answered within {self.deadline_s:g} s"
            raise PrometheusUnavailableError(why) from None
        except UnreadablePrometheusError as error:
            raise PrometheusRefusedError(f"{self.url} cannot be read: {error}") from None
        except NotTakenError as error:
            if error.status in _UNAUTHORISED and self.secret is not None:
                self.secret.invalidate()
            # 503 is its own word for a query that took too long, or was cut off.
            if error.status is None or error.status >= 500 or error.status == 429:
                raise PrometheusUnavailableError(str(error)) from None
            raise PrometheusRefusedError(str(error)) from None

    def _credentials(self, secret: Secret | None) -> Secret | None:
        """What follows the scheme in the header; whoever reads it there knows the password, too."""
        if not self.user:
            return secret
        pair = f"{self.user}:{'' if secret is None else secret.reveal()}"
        return Secret(base64.b64encode(pair.encode()).decode())

    def _further_headers(self, credentials: Secret | None) -> dict[str, str]:
        found = {"X-Scope-OrgID": self.tenant} if self.tenant else {}
        if credentials is not None:
            scheme = "Basic" if self.user else "Bearer"
            found["Authorization"] = f"{scheme} {credentials.reveal()}"
        return found
