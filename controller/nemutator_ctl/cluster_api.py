"""Asks a cluster's brain through the API server: TLS from here to the pod, inside of a forwarded port."""

import http.client
import ssl
from pathlib import Path
from typing import Any, cast

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.api import Api, ApiResponse
from nemutator_ctl.cluster_access import ClusterAccess, ClusterChoice
from nemutator_ctl.exchanges import exchange, reason
from nemutator_ctl.kubeconfigs.forwarded_port import TlsInside
from nemutator_ctl.remote_api import token_in

PORT = 8420


class ClusterApi(Api):
    """The API server carries bytes that it cannot read; the brain still has to prove who it is."""

    signing_in = "sign in there with a token"

    def __init__(self, wanted: ClusterChoice, *, token_file: Path | None, timeout_s: float) -> None:
        self._access = ClusterAccess(wanted)
        self._name = f"nemutator-brain.{wanted.namespace}.svc"
        self._token = token_in(token_file) if token_file else self._access.token()
        self._timeout_s = timeout_s
        authority = self._access.authority()
        try:
            self._trust = ssl.create_default_context(cadata=authority)
        except (ssl.SSLError, ValueError) as error:
            raise self._unreachable("its ConfigMap nemutator-ca has no certificate") from error

    def _ask(self, method: str, target: str, body: bytes | None) -> ApiResponse:
        plain = self._access.forwarded()
        connection = http.client.HTTPConnection(self._name, PORT)
        try:
            plain.settimeout(self._timeout_s)
            inside = TlsInside(plain, self._trust, self._name)
            connection.sock = cast("Any", inside)
            found = exchange(connection, method, target, body=body, token=self._token)
            inside.say_goodbye()
            return found
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(reason(error)) from error
        finally:
            connection.close()
            plain.close()

    def _unreachable(self, why: str) -> OperatorError:
        return OperatorError(
            f"the brain does not answer through the API server: {why}",
            remedy="see whether its pod is ready, and what its log says",
            code=ExitCode.UNREACHABLE,
        )
