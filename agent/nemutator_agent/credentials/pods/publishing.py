"""Opens a socket for each pod that kubelet publishes, and closes it when the pod ends."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.declarations import DeclarationError, Declarations, from_volume
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.pods.budgets import too_many_volumes
from nemutator_agent.credentials.ports import PodCallerHandler, PodListener
from nemutator_agent.credentials.vault.accounts import Account, account
from nemutator_agent.credentials.vault.broker import Broker
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.publications import Publication, VolumeDirectory

log = logging.getLogger(__name__)

CLOSING_S = 5.0
"""Longer than a socket takes to drain: the end of a pod does not wait for its readers."""

MakeHandler = Callable[[VaultSession, Declarations | DeclarationError, str], PodCallerHandler]
"""The last one is the volume's id."""


@dataclass(frozen=True, slots=True, eq=False)
class _Published:
    session: VaultSession
    listener: PodListener
    serving: asyncio.Task[None]


@dataclass(eq=False, slots=True)
class PodPublisher:
    broker: Broker
    listen: Callable[[VolumeDirectory, str, PodCallerHandler], PodListener]
    """Binds the socket in a directory, for the pod with a uid; raises `OperatorError`."""
    handler: MakeHandler
    process: Process
    forget: Callable[[str], None]
    """What is remembered of a volume beyond the end of this process."""
    _published: dict[str, _Published] = field(default_factory=dict, init=False)
    _tasks: asyncio.TaskGroup | None = field(default=None, init=False)

    async def run(self) -> None:
        """Serve until cancelled; then close every socket, and revoke no token."""
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                await asyncio.get_running_loop().create_future()
        finally:
            self._tasks = None

    def publish(self, volume: str, publication: Publication) -> None:
        """Make the pod's socket listen where its volume is now, and refresh its token; raises
        `OperatorError`."""
        jwt = publication.tokens.get(names.VAULT_AUDIENCE)
        token = Secret(jwt) if jwt else None
        known = self._published.get(volume)
        if known is not None and _is_current(known, publication):
            self.broker.refresh(known.session, token)
            return
        pod_uid = publication.pod.uid
        others = [one.session.account.pod.uid for v, one in self._published.items() if v != volume]
        refused = too_many_volumes(pod_uid, others)
        if self._tasks is None or refused is not None:
            raise OperatorError(
                refused or "the sockets of pods are not served yet",
                remedy="kubelet tries again; let the containers of a pod share one volume, and the "
                "node have fewer pods",
                code=ExitCode.FAILED,
            )
        declarations = _read(publication)
        session = self.broker.open(_account(publication, declarations))
        try:
            handler = self.handler(session, declarations, volume)
            listener = self.listen(publication.directory, pod_uid, handler)
        except BaseException:
            self._end(session)
            raise
        self.broker.refresh(session, token)
        serving = self._tasks.create_task(
            self._serve(volume, listener), name=f"socket of {publication.pod.uid}"
        )
        # Also of a task that is cancelled before it begins.
        serving.add_done_callback(lambda _: listener.close())
        self._published[volume] = _Published(session, listener, serving)
        if known is not None:
            # Its socket is where the pod does not look: mount was killed and has made the volume again.
            known.serving.cancel()
            self._end(known.session)
        self._count()
        log.info("pod_published", _line(volume, session))

    async def withdraw(self, volume: str) -> None:
        """Close the pod's socket, and have its token revoked when that was its last volume."""
        self.forget(volume)
        published = self._published.pop(volume, None)
        if published is None:
            return
        self._count()
        self._end(published.session)
        published.serving.cancel()
        log.info("pod_withdrawn", _line(volume, published.session))
        await asyncio.wait([published.serving], timeout=CLOSING_S)

    async def _serve(self, volume: str, listener: PodListener) -> None:
        try:
            await listener.run()
        except Exception as error:
            # The sockets of other pods go on, and the next publication makes this one again.
            log.error(
                "pod_socket_failed",
                {names.VOLUME: volume, names.ERROR: type(error).__name__},
                exc_info=error,
            )
            published = self._published.get(volume)
            if published is not None and published.listener is listener:
                del self._published[volume]
                self._end(published.session)
            self._count()

    def _end(self, session: VaultSession) -> None:
        if all(other.session is not session for other in self._published.values()):
            self.broker.close(session)

    def _count(self) -> None:
        self.process.meter.gauge(names.POD_SOCKETS, len(self._published))


def _is_current(known: _Published, publication: Publication) -> bool:
    return known.session.account.pod.uid == publication.pod.uid and known.listener.listens_in(
        publication.directory
    )


def _read(publication: Publication) -> Declarations | DeclarationError:
    """A faulty declaration becomes an answer on the socket, where the pod's developer sees it."""
    try:
        return from_volume(publication.attributes)
    except DeclarationError as error:
        return error


def _account(publication: Publication, declared: Declarations | DeclarationError) -> Account:
    if isinstance(declared, DeclarationError):
        declared = Declarations()
    return account(
        publication.pod,
        declared.role,
        home=publication.directory.path,
        vault_namespace=declared.vault_namespace,
    )


def _line(volume: str, session: VaultSession) -> dict[names.Key, object]:
    pod = session.account.pod
    return {
        names.VOLUME: volume,
        names.POD: f"{pod.namespace}/{pod.name}",
        names.POD_UID: pod.uid,
    }
