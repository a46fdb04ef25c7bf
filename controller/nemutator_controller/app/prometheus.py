"""The Prometheus that is asked, from the settings."""

from nemutator_common.process import Process

from nemutator_controller.app.http_accounts import http_account, reread
from nemutator_controller.prometheus_http import PrometheusHttp
from nemutator_controller.settings import BrainSettings


def prometheus(settings: BrainSettings, process: Process) -> PrometheusHttp | None:
    """The one that *settings* name; None: there is none to ask. Raises `OperatorError`."""
    if not settings.prometheus:
        return None
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
    )
