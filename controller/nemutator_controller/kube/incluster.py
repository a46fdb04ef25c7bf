"""Credentials of a pod: the service account that kubelet mounts, which rotates while we run."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.clocks import Clock
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from nemutator_controller.kube.configuration import Access

MOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

READ_AGAIN_S = 60.0
"""kubelet replaces the token when 80 % of its hour are over; the CA bundle whenever it changes."""


@dataclass(frozen=True, slots=True)
class _Read:
    access: Access
    at: float


class InCluster:
    """A `Configuration` from the mounted files, read again each minute and when refused."""

    def __init__(
        self, clock: Clock, *, mount: Path = MOUNT, environment: Mapping[str, str] = os.environ
    ) -> None:
        host = environment.get("KUBERNETES_SERVICE_HOST", "")
        port = environment.get("KUBERNETES_SERVICE_PORT_HTTPS", "443")
        if not host:
            raise OperatorError(
                "this process does not run in a pod: KUBERNETES_SERVICE_HOST is not set",
                remedy="run it in a pod of the cluster, with its service account",
                code=ExitCode.UNREACHABLE,
            )
        self._server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        self._mount = mount
        self._clock = clock
        self._last: _Read | None = None

    async def access(self, *, renew: bool = False) -> Access:
        # The files are a few kilobytes in memory (tmpfs): reading them blocks nobody.
        now = self._clock.monotonic()
        if self._last is None or renew or now - self._last.at >= READ_AGAIN_S:
            try:
                self._last = _Read(self._read(), now)
            except OperatorError:
                # Kubelet is replacing the files, or the volume is being removed with the pod.
                if self._last is None:
                    raise
        return self._last.access

    def _read(self) -> Access:
        try:
            token = (self._mount / "token").read_text().strip()
            ca = (self._mount / "ca.crt").read_text()
        except (OSError, ValueError) as error:
            raise OperatorError(
                f"service account: {getattr(error, 'filename', None) or self._mount}: "
                f"{getattr(error, 'strerror', None) or 'not text'}",
                remedy="give the pod a service account and leave automountServiceAccountToken on",
                code=ExitCode.UNREACHABLE,
            ) from error
        return Access(server=self._server, ca=ca, token=Secret(token))
