import pytest
from nemutator_agent.credentials.machine.vault_refusals import of_vault_on_machine
from nemutator_agent.credentials.vault.accounts import machine_account
from nemutator_agent.credentials.vault.failures import (
    LoginFileError,
    LoginRefusedError,
    SecretMissingError,
    TokenGoneError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)

ACCOUNT = machine_account("approle.12345678")


@pytest.mark.parametrize(
    ("error", "status", "step", "remedy"),
    [
        (LoginFileError("/etc/id is empty", "write it"), 503, "token", "write it"),
        (LoginRefusedError("invalid secret id"), 403, "login", "write another one to its file"),
        (VaultDeniedError("permission denied"), 403, "vault", "may read secret/app/db"),
        (TokenGoneError("invalid token"), 403, "vault", "may read secret/app/db"),
        (SecretMissingError("none"), 404, "vault", "nemutator secret set NAME --vault"),
        (UnsupportedSecretError("too large"), 400, "vault", "at most 256 KiB"),
        (VaultUnavailableError("sealed", "Vault is sealed"), 503, "vault", "unseal it"),
    ],
)
def test_each_failure_has_its_step_and_a_remedy_for_a_machine(
    error: VaultError, status: int, step: str, remedy: str
) -> None:
    refusal = of_vault_on_machine(error, account=ACCOUNT, path="secret/app/db", shown="the AppRole")
    assert (refusal.status, refusal.step) == (status, step)
    assert remedy in refusal.remedy
    assert "pod" not in f"{refusal.error} {refusal.remedy}"
    assert (refusal.retry_after_s is not None) == (status == 503)
