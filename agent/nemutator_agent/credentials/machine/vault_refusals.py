"""The answers to callers of a machine without pods, for whom Vault has failed."""

from nemutator_agent.credentials.http_refusals import RETRY_AFTER_S, HttpRefusal, of_vault
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.failures import (
    LoginFileError,
    LoginRefusedError,
    SecretMissingError,
    TokenGoneError,
    VaultDeniedError,
    VaultError,
)


def of_vault_on_machine(
    error: VaultError, *, account: Account, path: str, shown: str
) -> HttpRefusal:
    """*shown* is how the machine logs in, for people."""
    match error:
        case LoginFileError():
            return HttpRefusal(
                503,
                f"the agent cannot log in to Vault: {error.why}",
                remedy=error.remedy,
                step="token",
                retry_after_s=RETRY_AFTER_S,
            )
        case LoginRefusedError():
            return HttpRefusal(
                403,
                f"Vault refuses the login with {shown}: {error.why}",
                remedy="write another one to its file, which is read again for each login; a wrapped one "
                "that somebody else has unwrapped was stolen",
                step="login",
            )
        case VaultDeniedError() | TokenGoneError():
            return HttpRefusal(
                403,
                f"Vault denies {path} to this machine, which logs in with {shown}: {error.why}",
                remedy=of_vault(error, account=account, path=path, auth_mount="").remedy,
                step="vault",
            )
        case SecretMissingError():
            return HttpRefusal(
                404,
                f"Vault has nothing at {path}: {error.why}",
                remedy="write it, or correct the path: `nemutator secret set NAME --vault PATH#KEY`",
                step="vault",
            )
    return of_vault(error, account=account, path=path, auth_mount="")
