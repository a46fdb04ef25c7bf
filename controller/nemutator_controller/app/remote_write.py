"""Where minutes of history are sent, from the settings."""

from pathlib import Path

from nemutator_common.process import Process

from nemutator_controller.app.http_accounts import http_account, reread, wrong
from nemutator_controller.history.remote_write_http import HttpRemoteWrite
from nemutator_controller.settings.brain import BrainSettings


def remote_write(settings: BrainSettings, process: Process) -> HttpRemoteWrite | None:
    """The receiver that *settings* name; None: nothing is sent. Raises `OperatorError`."""
    if not settings.remote_write:
        return None
    account = http_account(
        "remote_write",
        settings.remote_write,
        process,
        token_file=settings.remote_write_token_file,
        user=settings.remote_write_user,
        password_file=settings.remote_write_password_file,
        tenant=settings.remote_write_tenant,
    )
    certificate, key = settings.remote_write_certificate_file, settings.remote_write_key_file
    if bool(certificate) != bool(key):
        what = "a certificate and its key belong together"
        raise wrong("remote_write", what, "name both, or none")
    return HttpRemoteWrite(
        url=settings.remote_write,
        account=account,
        ca=reread(settings.remote_write_ca_file, process),
        certificate=(Path(certificate), Path(key)) if certificate else None,
    )
