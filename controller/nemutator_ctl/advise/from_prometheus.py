"""Advice from a Prometheus alone."""

import argparse
import base64
import ssl
import sys
from urllib.parse import SplitResult, urlsplit

from nemutator_common.system_clock import SystemClock
from nemutator_controller.prometheus_finding import PrometheusFinding
from nemutator_controller.prometheus_services import FIND, FoundService
from nemutator_controller.setting_checks import is_private
from nemutator_controller.sizing.documents import Advice
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.ports import PrometheusQueries
from nemutator_controller.sizing.sources.prometheus_reading import PrometheusReading
from nemutator_controller.sizing.sources.seed_figures import SEED, by_seed
from nemutator_controller.sizing.sources.seed_reading import SeedReading

from nemutator_ctl import arguments
from nemutator_ctl.advise.from_records import (
    advice_from,
    content_of,
    header,
    recommended,
    refused,
    word_in,
)
from nemutator_ctl.advise.options import OURS
from nemutator_ctl.advise.prometheus_client import PrometheusClient

REMEDY = "make it reachable from here (kubectl port-forward), or see --help for how to sign in"


def recommended_by_prometheus(given: argparse.Namespace) -> list[Advice]:
    """What *given* asks of its Prometheus; raises `OperatorError`."""
    client: PrometheusQueries = _found(given) if given.prometheus == FIND else _client(given)

    async def recommend(begin: float, now: float) -> list[Advice]:
        reading = PrometheusReading(client, NamedOwners(), namespace=given.namespace)
        strategy = OURS if given.strategy == SEED else given.strategy
        advice = await advice_from(reading, strategy, begin=begin, now=now)
        if given.strategy != SEED:
            return advice
        # Its own questions, and not what we make of ours.
        asking = SeedReading(reading)
        await asking.read(begin=begin, end=now)
        return by_seed(advice, asking.cores, asking.memory, reading.owners)

    return recommended(given, recommend, remedy=REMEDY)


def _found(given: argparse.Namespace) -> PrometheusFinding:
    """That of the cluster, as whoever its kubeconfig names."""
    if given.prometheus_tenant or given.prometheus_token_file or given.prometheus_user:
        # The API server keeps such headers for itself.
        raise refused("nobody signs in through the API server", "name the Prometheus by its URL")
    from nemutator_ctl.advise.found_prometheus import FoundPrometheus

    access = arguments.cluster_access(given)
    services = access.services()

    def opened(service: FoundService) -> FoundPrometheus:
        sys.stderr.write(f"nemutator: asks {service} by the API server\n")
        return FoundPrometheus(access, service)

    return PrometheusFinding(lambda: services, opened, SystemClock())


def _client(given: argparse.Namespace) -> PrometheusClient:
    address = _address(given.prometheus)
    headers = {"X-Scope-OrgID": header(given.prometheus_tenant)} if given.prometheus_tenant else {}
    token, password = given.prometheus_token_file, given.prometheus_password_file
    if token and password:
        raise refused("both a token and a password are named", "name one of them")
    if bool(password) != bool(given.prometheus_user):
        raise refused("a user and a password belong together", "name both, or none")
    if (token or password) and address.scheme != "https" and not is_private(given.prometheus):
        raise refused("a secret would be readable on the way", "name it by https://")
    if token:
        headers["Authorization"] = f"Bearer {word_in(token)}"
    elif password:
        pair = f"{given.prometheus_user}:{content_of(password)}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    return PrometheusClient(address, headers, _trust(given, address))


def _address(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        parts, good = urlsplit(""), None
    if not good or parts.query or parts.fragment or parts.username:
        raise refused(
            f"{url.rpartition('@')[2]!r} is no address", "write http[s]://HOST[:PORT][/PATH]"
        )
    return parts


def _trust(given: argparse.Namespace, address: SplitResult) -> ssl.SSLContext | None:
    certificate, key = given.prometheus_certificate_file, given.prometheus_key_file
    if bool(certificate) != bool(key):
        raise refused("a certificate and its key belong together", "name both, or none")
    if address.scheme != "https":
        return None
    try:
        context = ssl.create_default_context(cafile=given.prometheus_ca_file)
        if certificate:
            context.load_cert_chain(certificate, key)
    except (OSError, ValueError) as error:
        raise refused("a file of certificates cannot be read", "name files in PEM") from error
    return context
