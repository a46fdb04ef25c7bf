"""What the credentials process needs of others."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from nemutator_common.declarations import Reference
from nemutator_common.on_rotate import ContainerSignal
from nemutator_common.secret import Secret
from nemutator_common.wire import Grant

from nemutator_agent.credentials.files.folder_states import FolderState
from nemutator_agent.credentials.leases.states import LeaseHolding
from nemutator_agent.credentials.responses import SecretAtHand, SecretResponse
from nemutator_agent.credentials.rotation.changes import ChangeLog
from nemutator_agent.credentials.signals.outcomes import SignalOutcome
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange
from nemutator_agent.credentials.vault.leases import HeldLease, Lease
from nemutator_agent.credentials.vault.login_proofs import LoginProof
from nemutator_agent.credentials.vault_api.api_answer import ApiAnswer, Turn
from nemutator_agent.credentials.vault_api.api_request import SentRequest
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.publications import VolumeDirectory


class Vault(Protocol):
    """Vault, as its API is used here. Each method raises a `failures.VaultError`."""

    async def login(self, role: str, proof: LoginProof) -> Lease: ...

    async def renew(self, token: Secret) -> Lease: ...

    async def revoke(self, token: Secret) -> None:
        """A token that Vault does not know any more is not an error."""
        ...

    async def lookup(self, token: Secret) -> None:
        """Returns where Vault knows *token*; one without a policy for it gets a `VaultDeniedError`."""
        ...

    async def mount_of(self, token: Secret, path: str) -> EngineMount: ...

    async def read(self, token: Secret, mount: EngineMount, path: str) -> Document: ...

    async def exchange(self, token: Secret, asked: VaultExchange) -> VaultAnswer:
        """Vault's answer as it is, refusals included; raises for outages and a token that is gone."""
        ...

    async def health(self) -> None:
        """Returns where it is well, for all that Vault itself knows."""
        ...


class NamespacedVault(Vault, Protocol):
    """In the namespace of the settings."""

    def within(self, namespace: str) -> "NamespacedVault":
        """The same Vault, in another namespace of its own."""
        ...


class SharedVault(Protocol):
    """Vault, as all pods of the node use it."""

    def of(self, account: Account) -> Vault:
        """In the name of *account*."""
        ...


class Ledger(Protocol):
    """Remembers beyond the end of this process which tokens and leases Vault has given. No method
    raises."""

    def intend(self, account: Account) -> int:
        """Vault is about to be asked for a token; returns the number of all records of this login."""
        ...

    def save(self, account: Account, held: HeldLease) -> None: ...

    def renew(self, held: HeldLease) -> None: ...

    def end(self, entry: int) -> None:
        """The login gave no token, or its token has ended, and with it what was lent for it."""
        ...

    def lend(self, path: str, holding: LeaseHolding, token: int) -> int:
        """Vault has lent what is at *path* for the token with that number; returns the lease's own, or 0 for
        a token that is not in the ledger."""
        ...

    def renew_lease(self, entry: int, holding: LeaseHolding) -> None: ...

    def end_lease(self, entry: int) -> None:
        """Nobody renews it any more."""
        ...


class GrantSink(Protocol):
    """Takes records of the audit for the brain, without waiting."""

    def put(self, grant: Grant) -> None: ...

    def put_encoded(self, record: bytes, *, source: str) -> None:
        """The same, of a grant as it goes over the wire; *source* is the pod's uid, or the caller."""
        ...


class FileFolder(Protocol):
    """A folder with a file for each of some secrets. What changes it may raise an `OperatorError`."""

    def path_of(self, name: str) -> str: ...

    async def write(self, name: str, value: Secret, *, owner: int) -> None:
        """Replace the file in one step, by one that only the user *owner* may read."""
        ...

    async def remove(self, name: str) -> None:
        """A file that is not there is not an error."""
        ...


class ConnectedPeer(Protocol):
    """The process at the other end of a connection."""

    @property
    def uid(self) -> int: ...

    def facts(self, *, program: bool = True) -> ProcessFacts:
        """The facts as they are now; raises `AttestationError`, for example when the process has ended.
        Without *program* no time is spent to learn its executable."""
        ...


class AttestsPods(Protocol):
    def admit(self, facts: ProcessFacts, pod_uid: str) -> None:
        """Raises `AttestationError`."""
        ...


class SecretChanges(Protocol):
    """The changes of secrets that callers of one socket may hear of."""

    @property
    def log(self) -> ChangeLog: ...

    async def beyond(self, sequence: int) -> None:
        """Wait for a change after *sequence*, and not for ever."""
        ...


class ReadsVault(Protocol):
    """Vault, for a machine without pods."""

    async def read(self, name: str, reference: Reference) -> SecretResponse:
        """The secret *name*, which is there; raises an `HttpRefusal`."""
        ...

    def forget(self, name: str) -> None:
        """It is not that secret any more: what was lent for it alone is not renewed."""
        ...


class AnnouncesChanges(Protocol):
    def announce(self, name: str, version: int | None) -> None:
        """A new value of the secret *name* can be read."""
        ...


class RemembersServed(Protocol):
    """Digests of what the pod of one volume was given, beyond the end of this process. No method raises."""

    def references(self) -> Collection[tuple[str, str]]:
        """Names, and the references behind them."""
        ...

    def is_same(self, name: str, reference: str, digest: bytes) -> bool | None:
        """Whether that is what was put last; None where nothing was."""
        ...

    def put(self, name: str, reference: str, digest: bytes) -> None: ...


class SettlesChanges(Protocol):
    """What has changed of what a pod has read, until something was done about it."""

    @property
    def is_unsettled(self) -> bool: ...

    def settling(self) -> Callable[[], None]:
        """It is being done; what is returned is called when it was."""
        ...


class AdmittedCaller(Protocol):
    """A caller who has been let in, for one request. Each method may raise an `HttpRefusal`."""

    def whoami(self) -> Mapping[str, object]: ...

    def declared(self) -> Mapping[str, Sequence[str]]: ...

    async def secret(self, name: str) -> SecretResponse: ...

    async def environment(self) -> Mapping[str, Secret]: ...

    def may_watch(self, name: str) -> bool:
        """Whether the caller may hear that the secret *name* has changed."""
        ...


class AdmittedPod(AdmittedCaller, Protocol):
    async def ask_vault(self, sent: SentRequest, turn: Turn) -> ApiAnswer:
        """What Vault answers to one of its clients."""
        ...

    async def files(self) -> Mapping[str, Secret]:
        """All secrets that the pod declares, for files; each counts as a request."""
        ...


class CallerHandler(Protocol):
    """Serves the callers of one socket."""

    @property
    def changes(self) -> SecretChanges:
        """The changes that `AdmittedCaller.may_watch` decides about."""
        ...

    def admit(self, peer: ConnectedPeer) -> AdmittedCaller:
        """Raises an `HttpRefusal`."""
        ...


class FollowsRotation(Protocol):
    """What is done for a pod after its secrets have changed."""

    def due(self) -> None:
        """They have, and its files have, too."""
        ...

    def due_if_changed(self) -> None:
        """The same, unless all that has changed was acted upon."""
        ...

    async def run(self) -> None:
        """Do it whenever it is due, until cancelled."""
        ...


class PodCallerHandler(CallerHandler, Protocol):
    """For the socket of a pod, which has Vault behind it."""

    def admit(self, peer: ConnectedPeer) -> AdmittedPod: ...

    @property
    def after_rotation(self) -> FollowsRotation: ...

    @property
    def file_owner(self) -> int | None:
        """The user for whom its files are; None where the pod does not say."""
        ...

    def secret_at_hand(self, peer: ConnectedPeer, name: str, *, most: int) -> SecretAtHand | None:
        """What `admit` and `secret` would give, out of a document of less than *most* bytes, and what has to be
        called once it is given. None, and nothing has happened, if that takes waiting or would be a refusal."""
        ...

    async def file_values(self) -> Mapping[str, Secret]:
        """The same, when nobody asks; raises an `HttpRefusal`."""
        ...

    async def follow_before(self) -> None:
        """See changes of what the pod has, from when it was given that: of its variables, if it is to be evicted
        for them, and of what an earlier run has given to it. Raises a VaultError."""
        ...


class SignalsContainers(Protocol):
    async def send(self, pod_uid: str, wanted: ContainerSignal) -> SignalOutcome:
        """To the first process of a container of this pod, if that has a handler for it."""
        ...


class ProjectedFolder(Protocol):
    """The files of one pod."""

    def state(self, values: Mapping[str, Secret]) -> FolderState: ...

    def write(self, values: Mapping[str, Secret]) -> bool:
        """Replace all of them at once; raises OSError, and then nothing has changed. False when they could not
        be given to the pod's user, and more can read them."""
        ...


class PodListener(Protocol):
    """The socket of one pod, which is bound already."""

    def listens_in(self, directory: VolumeDirectory) -> bool:
        """Whether a caller who looks for the socket in *directory* finds this one."""
        ...

    async def run(self) -> None:
        """Serve until cancelled."""
        ...

    def close(self) -> None:
        """Close a socket that was not run."""
        ...
