"""The Prometheus that is asked, from the settings."""

from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.shipping.files import RereadFile

from nemutator_controller.prometheus_http import PrometheusHttp
from nemutator_controller.settings import BrainSettings, is_private


def prometheus(settings: BrainSettings, process: Process) -> PrometheusHttp | None:
    """The one that *settings* name; None: there is none to ask. Raises `OperatorError`."""
    url = settings.prometheus
    if not url:
        return None
    token, password = settings.prometheus_token_file, settings.prometheus_password_file
    if token and password:
        raise _wrong("both a token and a password are named", "leave one of their settings empty")
    if (token or password) and not url.startswith("https://") and not is_private(url):
        what = f"a secret would be readable by everybody on the way to {url}"
        raise _wrong(what, "name it by https://, or leave the file of the secret empty")
    if bool(password) != bool(settings.prometheus_user):
        raise _wrong("a user and a password belong together", "name both, or none")
    return PrometheusHttp(
        url=url,
        clock=process.clock,
        user=settings.prometheus_user,
        secret=_file(token or password, process),
        tenant=settings.prometheus_tenant,
        ca=_file(settings.prometheus_ca_file, process),
    )


def _wrong(what: str, remedy: str) -> OperatorError:
    return OperatorError(f"brain.prometheus: {what}", remedy=remedy, code=ExitCode.USAGE)


def _file(name: str, process: Process) -> RereadFile | None:
    return RereadFile(Path(name), process.clock, reason="file") if name else None
