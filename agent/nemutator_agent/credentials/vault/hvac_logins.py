"""The ways to log in to Vault, each in the thread that calls; they raise what hvac raises for an outage."""

from collections.abc import Callable
from typing import Any, NoReturn

from hvac import exceptions  # type: ignore[import-untyped]
from nemutator_common.secret import Secret

from nemutator_agent.credentials.vault.failures import LoginRefusedError, VaultUnavailableError
from nemutator_agent.credentials.vault.hvac_failures import (
    REFUSALS,
    check_vault_says,
    mapping,
    reason_of,
)
from nemutator_agent.credentials.vault.leases import Lease
from nemutator_agent.credentials.vault.login_proofs import AppRole, GivenToken, LoginProof

_NO_TOKEN = "the answer has no token"  # noqa: S105 - nor has this


class HvacLogins:
    def __init__(self, client: Callable[[Secret | None], Any], *, auth_mount: str) -> None:
        self._client = client
        """Makes one for one call, with this token."""
        self._auth_mount = auth_mount
        self._unwrapped: tuple[Secret, Secret] | None = None
        """The last wrapping token with its secret id, because nobody can unwrap it again."""

    def lease(self, role: str, proof: LoginProof) -> Lease:
        """Raises a LoginRefusedError where Vault itself refuses."""
        match proof:
            case AppRole():
                return self._app_role(proof)
            case GivenToken():
                return self._given(proof.token)
        try:
            # The method jwt takes the same.
            answer = self._client(None).auth.kubernetes.login(
                role, proof.reveal(), use_token=False, mount_point=self._auth_mount
            )
        except REFUSALS as error:
            check_vault_says(error)
            raise LoginRefusedError(reason_of(error)) from None
        return lease_in(answer)

    def _app_role(self, proof: AppRole) -> Lease:
        secret_id = proof.secret_id
        if proof.wrapping_path:
            secret_id = self._secret_id_in(proof.secret_id, proof.wrapping_path)
        try:
            answer = self._client(None).auth.approle.login(
                proof.role_id.reveal(),
                secret_id.reveal(),
                use_token=False,
                mount_point=self._auth_mount,
            )
        except REFUSALS as error:
            _refused(f"auth/{self._auth_mount}/login", error)
        return lease_in(answer)

    def _secret_id_in(self, wrapping: Secret, made_at: str) -> Secret:
        if self._unwrapped is not None and self._unwrapped[0] == wrapping:
            return self._unwrapped[1]
        try:
            about = self._client(None).adapter.post(
                "/v1/sys/wrapping/lookup", json={"token": wrapping.reveal()}
            )
            found = mapping(mapping(about).get("data")).get("creation_path")
            if found != made_at:
                raise LoginRefusedError(f"the wrapping token was made at {found}, not at {made_at}")
            answer = self._client(wrapping).sys.unwrap()
        except REFUSALS as error:
            _refused("the wrapped secret id", error)
        secret_id = mapping(mapping(answer).get("data")).get("secret_id")
        if not isinstance(secret_id, str) or not secret_id:
            raise LoginRefusedError("what the wrapping token holds is no secret id")
        self._unwrapped = wrapping, Secret(secret_id)
        return self._unwrapped[1]

    def _given(self, token: Secret) -> Lease:
        try:
            answer = self._client(token).auth.token.lookup_self()
        except REFUSALS as error:
            _refused("auth/token/lookup-self", error)
        about = mapping(mapping(answer).get("data"))
        ttl = about.get("ttl")
        if not isinstance(ttl, int):
            raise VaultUnavailableError("malformed", _NO_TOKEN)
        return Lease(token, float(ttl), about.get("renewable") is True, ours=False)


def _refused(what: str, error: exceptions.VaultError) -> NoReturn:
    """With what was asked in front: unlike a pod's, such a refusal needs no second opinion."""
    check_vault_says(error)
    raise LoginRefusedError(f"{what}: {reason_of(error)}") from None


def lease_in(answer: Any) -> Lease:
    """What Vault answers to a login and to a renewal."""
    auth = mapping(mapping(answer).get("auth"))
    token, ttl = auth.get("client_token"), auth.get("lease_duration")
    if not isinstance(token, str) or not token or not isinstance(ttl, int):
        raise VaultUnavailableError("malformed", _NO_TOKEN)
    return Lease(Secret(token), float(ttl), auth.get("renewable") is True)
