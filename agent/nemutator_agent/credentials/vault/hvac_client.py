"""What is asked of Vault for every pod: logins, tokens and documents of KV engines, through hvac."""

from collections.abc import Mapping

from hvac import exceptions  # type: ignore[import-untyped]
from nemutator_common.secret import Secret

from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange
from nemutator_agent.credentials.vault.failures import (
    UnsupportedSecretError,
    VaultDeniedError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.hvac_exchange import exchanged
from nemutator_agent.credentials.vault.hvac_failures import (
    check_done,
    check_vault_says,
    is_gone,
    mapping,
    of_a_pod,
    reason_of,
)
from nemutator_agent.credentials.vault.hvac_logins import HvacLogins, lease_in
from nemutator_agent.credentials.vault.hvac_session import AsWrittenAdapter, HvacSession
from nemutator_agent.credentials.vault.leases import Lease
from nemutator_agent.credentials.vault.login_proofs import LoginProof

_HEALTH = (
    "/v1/sys/health?standbyok=true&perfstandbyok=true"
    "&sealedcode=200&uninitcode=200&drsecondarycode=200"
)
"""Says in its document what it would else say by a status."""

LARGEST_DOCUMENT = 256 << 10


class HvacVault:
    """Fulfils the port `NamespacedVault`."""

    def __init__(self, session: HvacSession, *, auth_mount: str, job_s: float) -> None:
        self._session = session
        self._auth_mount = auth_mount
        self._job_s = job_s
        self._logins = HvacLogins(
            lambda token: session.client(token, answer_s=job_s), auth_mount=auth_mount
        )

    def within(self, namespace: str) -> "HvacVault":
        session = self._session.within(namespace)
        return HvacVault(session, auth_mount=self._auth_mount, job_s=self._job_s)

    async def login(self, role: str, proof: LoginProof) -> Lease:
        return await self._session.run(
            lambda: self._logins.lease(role, proof), pool="logins", undo=self._undo
        )

    async def renew(self, token: Secret) -> Lease:
        return await self._session.run(
            lambda: lease_in(self._session.client(token).auth.token.renew_self())
        )

    async def revoke(self, token: Secret) -> None:
        await self._session.run(lambda: self._revoke(token), pool="revocations")

    async def lookup(self, token: Secret) -> None:
        await self._session.run(
            lambda: mapping(
                mapping(self._session.client(token).auth.token.lookup_self()).get("data")
            )
        )

    async def mount_of(self, token: Secret, path: str) -> EngineMount:
        return await self._session.run(lambda: self._mount_of(token, path))

    async def read(self, token: Secret, mount: EngineMount, path: str) -> Document:
        return await self._session.run(
            lambda: of_a_pod(lambda: self._read(token, mount, path), most=LARGEST_DOCUMENT)
        )

    async def exchange(self, token: Secret, asked: VaultExchange) -> VaultAnswer:
        return await self._session.run(lambda: exchanged(self._session.client(token), asked))

    async def health(self) -> None:
        def call() -> None:
            adapter = self._session.client(None).adapter
            # Namespaces do not have this path.
            adapter.namespace = None
            found = mapping(adapter.get(_HEALTH))
            if found.get("sealed") is not False:
                raise VaultUnavailableError("sealed", "Vault is sealed, or not initialized")

        await self._session.run(call)

    # --- in a thread ----------------------------------------------------------------------------
    def _undo(self, login: Lease) -> None:
        if login.ours:
            self._revoke(login.token)

    def _revoke(self, token: Secret) -> None:
        check_done(self._session.client(token, answer_s=self._job_s).auth.token.revoke_self())

    def _mount_of(self, token: Secret, path: str) -> EngineMount:
        try:
            answer = self._session.client(token).adapter.get(f"/v1/sys/internal/ui/mounts/{path}")
        except exceptions.InvalidPath as error:
            check_vault_says(error)
            # A Vault from before 0.10 knows neither this path nor version 2 of KV.
            return EngineMount(path.partition("/")[0] + "/", 1)
        except exceptions.Forbidden as error:
            check_vault_says(error)
            if is_gone(error):
                raise
            why = "no policy of the role reaches into this mount, or there is no such mount"
            raise VaultDeniedError(f"{why} ({reason_of(error)})") from None
        data = mapping(mapping(answer).get("data"))
        where, kind = data.get("path"), data.get("type")
        if not isinstance(where, str) or not where or not isinstance(kind, str):
            raise VaultUnavailableError("malformed", "the answer names no mount of the path")
        if path.startswith(f"auth/{where}"):
            # Vault leaves this word out for what logs in.
            where = f"auth/{where}"
        if not path.startswith(where):
            raise VaultUnavailableError("malformed", "the answer names the mount of another path")
        if kind not in ("kv", "generic"):
            return EngineMount(where, None, kind)
        options = data.get("options")
        version = options.get("version") if isinstance(options, Mapping) else None
        return EngineMount(where, 2 if version == "2" else 1)

    def _read(self, token: Secret, mount: EngineMount, path: str) -> Document:
        if mount.version is None:
            raise UnsupportedSecretError(
                f"{mount.path} is an engine of kind {mount.kind}, and not KV"
            )
        engines = self._session.client(token, adapter=AsWrittenAdapter).secrets.kv
        below, at = path.removeprefix(mount.path), mount.path.rstrip("/")
        if mount.version == 1:
            answer = engines.v1.read_secret(path=below, mount_point=at)
            document = Document.of(mapping(mapping(answer).get("data")), None)
        else:
            answer = engines.v2.read_secret_version(
                path=below, mount_point=at, raise_on_deleted_version=True
            )
            data = mapping(mapping(answer).get("data"))
            metadata = mapping(data.get("metadata"))
            version = metadata.get("version")
            document = Document.of(
                mapping(data.get("data")), version if isinstance(version, int) else None, metadata
            )
        if document.size > LARGEST_DOCUMENT:
            raise UnsupportedSecretError(f"it is larger than {LARGEST_DOCUMENT >> 10} KiB")
        return document
