"""How a person lets the command in: by a kubeconfig, read as our own command line reads it."""

import asyncio
from pathlib import Path

from nemutator_common.clocks import Clock
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret
from nemutator_controller.kube.configuration import Access
from nemutator_ctl.kubeconfigs.files import KubeCredentials, credentials_of, entry_in, searched
from nemutator_ctl.kubeconfigs.model import KubeconfigError, KubeServer, Pem

JUST_NOW_S = 5.0
"""What was read so recently is not read again, however many requests were refused together."""


class Kubeconfig:
    """A `Configuration`; without *path*, of where kubectl looks."""

    def __init__(self, clock: Clock, *, path: Path | None = None, context: str = "") -> None:
        self._clock = clock
        self._path = path
        self._context = context
        self._last: tuple[float, Access] | None = None
        self._reading = asyncio.Lock()

    async def access(self, *, renew: bool = False) -> Access:
        async with self._reading:
            if self._last is None or (renew and self._is_old(self._last[0])):
                found = await asyncio.to_thread(self._read)
                self._last = self._clock.monotonic(), found
            return self._last[1]

    def _is_old(self, at: float) -> bool:
        return self._clock.monotonic() - at >= JUST_NOW_S

    def _read(self) -> Access:
        paths = searched(self._path)
        try:
            entry = entry_in(paths, self._context)
            credentials = credentials_of(entry, paths, self._context)
            if credentials.password is not None:
                raise KubeconfigError(
                    "its user has a user name and a password, which no API server takes since 1.19"
                )
            return _access(entry.server, credentials)
        except (KubeconfigError, OSError) as error:
            raise OperatorError(
                f"kubeconfig {', '.join(map(str, paths))}: {error}",
                remedy="try `kubectl get --raw /version` with the same file",
                code=ExitCode.UNREACHABLE,
            ) from error


def _access(server: KubeServer, credentials: KubeCredentials) -> Access:
    key = _content(credentials.key)
    return Access(
        server=server.url.rstrip("/"),
        ca=_content(server.authority),
        token=credentials.token,
        client_certificate=_content(credentials.certificate),
        client_key=Secret(key) if key else None,
        server_name=server.name or None,
        insecure=server.is_insecure,
    )


def _content(pem: Pem | None) -> str | None:
    if isinstance(pem, Path):
        return pem.read_text()
    return None if pem is None else pem.reveal()
