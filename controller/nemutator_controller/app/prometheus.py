"""The Prometheus that is asked, from the settings."""

from pathlib import Path

from nemutator_common.process import Process

from nemutator_controller.app.http_accounts import http_account, reread, wrong
from nemutator_controller.prometheus_http import PrometheusHttp
from nemutator_controller.settings import BrainSettings


def prometheus(settings: BrainSettings, process: Process) -> PrometheusHttp | None:
    """The one that *settings* name; None: there is none to ask. Raises `OperatorError`."""
    if not settings.prometheus:
        return None
    certificate, key = settings.prometheus_certificate_file, settings.prometheus_key_file
    if bool(certificate) != bool(key):
        what = "a certificate and its key belong together"
        raise wrong("prometheus", what, "name both, or none")
    return PrometheusHttp(
        url=settings.prometheus,
        clock=process.clock,
        account=http_account(
            "prometheus",
            settings.prometheus,
            process,
            token_file=settings.prometheus_token_file,
            user=settings.prometheus_user,
            password_file=settings.prometheus_password_file,
            tenant=settings.prometheus_tenant,
        ),
        ca=reread(settings.prometheus_ca_file, process),
        certificate=(Path(certificate), Path(key)) if certificate else None,
    )
