"""Where minutes of history are sent, from the settings."""

from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.shipping.files import RereadFile

from nemutator_controller.history.remote_write_http import HttpRemoteWrite
from nemutator_controller.settings import BrainSettings, is_private


def remote_write(settings: BrainSettings, process: Process) -> HttpRemoteWrite | None:
    """The receiver that *settings* name; None: nothing is sent. Raises `OperatorError`."""
    url = settings.remote_write
    if not url:
        return None
    token, password = settings.remote_write_token_file, settings.remote_write_password_file
    if token and password:
        raise _wrong("both a token and a password are named", "leave one of their settings empty")
    if (token or password) and not url.startswith("https://") and not is_private(url):
        what = f"a secret would be readable by everybody on the way to {url}"
        raise _wrong(what, "name it by https://, or leave the file of the secret empty")
    if bool(password) != bool(settings.remote_write_user):
        raise _wrong("a user and a password belong together", "name both, or none")
    certificate, key = settings.remote_write_certificate_file, settings.remote_write_key_file
    if bool(certificate) != bool(key):
        raise _wrong("a certificate and its key belong together", "name both, or none")
    return HttpRemoteWrite(
        url=url,
        user=settings.remote_write_user,
        secret=_file(token or password, process),
        tenant=settings.remote_write_tenant,
        ca=_file(settings.remote_write_ca_file, process),
        certificate=(Path(certificate), Path(key)) if certificate else None,
    )


def _wrong(what: str, remedy: str) -> OperatorError:
    return OperatorError(f"brain.remote_write: {what}", remedy=remedy, code=ExitCode.USAGE)


def _file(name: str, process: Process) -> RereadFile | None:
    return RereadFile(Path(name), process.clock, reason="file") if name else None
