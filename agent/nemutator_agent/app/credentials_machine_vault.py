"""Vault behind the socket of a machine without Kubernetes: all callers have one account, rules tell them apart."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_agent.app.credentials_parts import CredentialsParts
from nemutator_agent.app.credentials_vault import AskedVault, ask_vault
from nemutator_agent.credentials.machine.login_files import AppRoleFiles, TokenFile, private_word
from nemutator_agent.credentials.machine.vault_reading import VaultReading
from nemutator_agent.credentials.ports import AnnouncesChanges
from nemutator_agent.credentials.rotation.checking import RotationChecks
from nemutator_agent.credentials.rotation.schedule import CheckSchedule
from nemutator_agent.credentials.vault.accounts import machine_account
from nemutator_agent.credentials.vault.failures import LoginFileError
from nemutator_agent.credentials.vault.login_proofs import LoginProof
from nemutator_agent.settings.credentials import CredentialsSettings


@dataclass(frozen=True, slots=True)
class MachineVault:
    reading: VaultReading
    asked: AskedVault

    def close(self) -> None:
        self.asked.close()


@dataclass(frozen=True, slots=True)
class _Login:
    role: str
    """Stands in the ledger and in the audit."""
    shown: str
    proof: Callable[[], Awaitable[LoginProof]]


def machine_vault(parts: CredentialsParts, changes: AnnouncesChanges) -> MachineVault:
    """Raises an `OperatorError` where the settings do not say how to log in."""
    process, settings = parts.process, parts.settings
    login = _login(settings)
    asked = ask_vault(process, settings, parts.audit)
    rotation = RotationChecks(
        asked.broker,
        CheckSchedule(per_minute=settings.checks_per_minute, interval_s=settings.check_s),
        process,
    )
    session = asked.broker.open(machine_account(login.role))
    session.proof = login.proof
    reading = VaultReading(
        session,
        asked.broker,
        process,
        changes=changes,
        audit=parts.audit,
        follow=rotation.follow,
        shown=login.shown,
    )
    process.supervisor.add("follow changes", rotation.run)
    process.supervisor.add("stay logged in", reading.run)
    return MachineVault(reading, asked)


def _login(settings: CredentialsSettings) -> _Login:
    if settings.vault_auth_method == "token":
        path = _file("vault_token_file", settings.vault_token_file)
        return _Login("token", f"the token in {path}", TokenFile(path).proof)
    secret_id_file = _file("vault_secret_id_file", settings.vault_secret_id_file)
    path = _file("vault_role_id_file", settings.vault_role_id_file)
    try:
        role_id = private_word(path, "the role id", secret=False)
    except LoginFileError as error:
        _refused(error.why, error.remedy)
    # So that a token that is left belongs to the role it was made for. It does not show the role id.
    digest = hashlib.sha256(role_id.reveal().encode()).hexdigest()[:8]
    return _Login(
        f"{settings.auth_mount}.{digest}",
        f"the AppRole of {path} and {secret_id_file}",
        AppRoleFiles(role_id, secret_id_file, settings.vault_secret_id_wrapping_path).proof,
    )


def _file(name: str, path: str) -> Path:
    return Path(path) if path else _refused("no file is named", f"set credentials.{name}")


def _refused(why: str, remedy: str) -> NoReturn:
    raise OperatorError(f"login to Vault: {why}", remedy=remedy, code=ExitCode.SETTINGS)
