"""Accounts with systems of others, from the settings: what contradicts itself is refused."""

from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.shipping.files import RereadFile

from nemutator_controller.http_accounts import HttpAccount
from nemutator_controller.setting_checks import is_private


def http_account(
    setting: str,
    url: str,
    process: Process,
    *,
    token_file: str,
    user: str = "",
    password_file: str = "",
    tenant: str = "",
) -> HttpAccount:
    """The account for *url*, which `brain.SETTING` names. Raises `OperatorError`."""
    if token_file and password_file:
        what = "both a token and a password are named"
        raise wrong(setting, what, "leave one of their settings empty")
    if (token_file or password_file) and not url.startswith("https://") and not is_private(url):
        what = f"a secret would be readable by everybody on the way to {url}"
        raise wrong(setting, what, "name it by https://, or leave the file of the secret empty")
    if bool(password_file) != bool(user):
        raise wrong(setting, "a user and a password belong together", "name both, or none")
    return HttpAccount(
        user=user, secret=reread(token_file or password_file, process), tenant=tenant
    )


def reread(name: str, process: Process) -> RereadFile | None:
    """The file of that name; None: none is named."""
    return RereadFile(Path(name), process.clock, reason="file") if name else None


def wrong(setting: str, what: str, remedy: str) -> OperatorError:
    return OperatorError(f"brain.{setting}: {what}", remedy=remedy, code=ExitCode.USAGE)
