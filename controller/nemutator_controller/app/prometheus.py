"""The Prometheus that is asked, from the settings: one that they name, or one that is found in the cluster."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.process import Process

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.http_accounts import http_account, reread, wrong
from nemutator_controller.http_accounts import HttpAccount
from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.prometheus_finding import PrometheusFinding
from nemutator_controller.prometheus_http import PrometheusHttp
from nemutator_controller.prometheus_services import FIND, FoundService, ServiceFacts
from nemutator_controller.settings.brain import BrainSettings


def prometheus(
    settings: BrainSettings, process: Process, cluster: Cluster | None
) -> PrometheusHttp | PrometheusFinding | None:
    """The one that *settings* name; None: there is none to ask. Raises `OperatorError`."""
    if not settings.prometheus:
        return None
    certificate, key = settings.prometheus_certificate_file, settings.prometheus_key_file
    if bool(certificate) != bool(key):
        what = "a certificate and its key belong together"
        raise wrong("prometheus", what, "name both, or none")
    if settings.prometheus != FIND:
        return _at(settings.prometheus, settings, process)
    if cluster is None:
        raise wrong("prometheus", "there is no cluster to find one in", "name its address")
    # What contradicts itself is told now, and not when one is found.
    _at("https://found", settings, process)
    return PrometheusFinding(
        ServicesIn(cluster, tuple(map(str.strip, settings.prometheus_namespaces.split(",")))).now,
        lambda service: _of(service, settings, process),
        process.clock,
    )


@dataclass(frozen=True, slots=True)
class ServicesIn:
    """Those of a cluster in namespaces that somebody trusts: whoever is asked decides what others may use."""

    cluster: Cluster
    namespaces: tuple[str, ...]

    def now(self) -> Iterable[ServiceFacts] | None:
        objects = self.cluster.objects.snapshot()
        if "services" in objects.unlisted:
            return None
        return [
            ServiceFacts(
                namespace=each.metadata.namespace,
                name=each.metadata.name,
                labels=each.metadata.labels,
                ports=tuple(
                    (one.name, one.port) for one in each.spec.ports if one.protocol == "TCP"
                ),
            )
            for each in objects.services.values()
            if each.spec.type != "ExternalName"
            and fits_any(each.metadata.namespace, self.namespaces)
        ]


def _of(service: FoundService, settings: BrainSettings, process: Process) -> PrometheusHttp:
    if service.scheme == "https":
        return _at(service.url, settings, process)
    # A secret would be readable on the way; a tenant is none.
    account = HttpAccount(tenant=settings.prometheus_tenant)
    return PrometheusHttp(url=service.url, clock=process.clock, account=account)


def _at(url: str, settings: BrainSettings, process: Process) -> PrometheusHttp:
    certificate, key = settings.prometheus_certificate_file, settings.prometheus_key_file
    return PrometheusHttp(
        url=url,
        clock=process.clock,
        account=http_account(
            "prometheus",
            url,
            process,
            token_file=settings.prometheus_token_file,
            user=settings.prometheus_user,
            password_file=settings.prometheus_password_file,
            tenant=settings.prometheus_tenant,
        ),
        ca=reread(settings.prometheus_ca_file, process),
        certificate=(Path(certificate), Path(key)) if certificate else None,
    )
