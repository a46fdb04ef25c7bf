"""Advice from a Prometheus alone: no brain is asked, and nothing has to be installed."""

import argparse
import asyncio
import base64
import math
import ssl
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.system_clock import SystemClock
from nemutator_controller.prometheus_finding import PrometheusFinding
from nemutator_controller.prometheus_services import FIND, FoundService
from nemutator_controller.setting_checks import is_private
from nemutator_controller.sizing.documents import Advice, AdviceList, advice_list
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.ports import PrometheusQueries
from nemutator_controller.sizing.sources.prometheus_reading import PrometheusReading
from nemutator_controller.sizing.sources.queries import WINDOW_S
from nemutator_controller.sizing.sources.recorded_steps import SourceUnavailableError
from nemutator_controller.sizing.sources.seed_figures import SEED, by_seed
from nemutator_controller.sizing.sources.seed_reading import SeedReading
from nemutator_controller.sizing.sources.side_by_side import (
    PodMatrices,
    TooMuchRecordedError,
    by_strategy,
)
from nemutator_controller.sizing.sources.source_samples import samples_of
from nemutator_controller.sizing.usages import Usages

from nemutator_ctl import arguments
from nemutator_ctl.advise.options import OURS
from nemutator_ctl.advise.prometheus_client import PrometheusClient
from nemutator_ctl.terminal_text import visible

MOST_CONTAINERS = 200_000
DAY_S = 86_400


class _NothingGrows:
    """A `GrowingMemory`: of ageing, Prometheus knows nothing."""

    def of(self, key: ContainerKey) -> str | None:
        return None


def recommended(given: argparse.Namespace) -> list[Advice]:
    """What *given* asks of its Prometheus; raises `OperatorError`."""
    if not 1 <= given.days <= 14:
        raise _usage(f"--days {given.days}", "name 1 to 14")
    client = _found(given) if given.prometheus == FIND else _client(given)
    try:
        return asyncio.run(_gathered(client, given, time.time()))
    except SourceUnavailableError as error:
        raise OperatorError(
            visible(str(error), limit=400),
            remedy="make it reachable from here (kubectl port-forward), or see --help for how to sign in",
            code=ExitCode.UNREACHABLE,
        ) from error
    except TooMuchRecordedError as error:
        raise _usage(str(error), "narrow it with -n NAMESPACE, or with fewer --days") from error


async def _gathered(
    client: PrometheusQueries, given: argparse.Namespace, now: float
) -> list[Advice]:
    owners = NamedOwners()
    reading = PrometheusReading(client, owners, namespace=given.namespace)
    usages = Usages(most=MOST_CONTAINERS)
    begin = (now - given.days * DAY_S) // WINDOW_S * WINDOW_S
    count = int((now - begin) // WINDOW_S)
    matrices = None if given.strategy in (OURS, SEED) else PodMatrices(begin, WINDOW_S, count)
    half: dict[str, int] = {}
    async for steps in reading.steps(begin=begin, end=now):
        found = samples_of(steps, owners, now=now, before=lambda _: math.inf)
        usages.learn(found.samples, now=now)
        for reason, number in found.dropped.items():
            half[reason] = half.get(reason, 0) + number
        if matrices is not None:
            matrices.take(steps, owners)
    requested = await reading.requested()
    _say(reading, half)
    seen = usages.seen(usages.keys(), now=now)
    advice = advice_list(seen, requested, _NothingGrows(), now=now)
    if given.strategy == SEED:
        # Its own questions, and not what we make of ours.
        asking = SeedReading(reading)
        await asking.read(begin=begin, end=now)
        return by_seed(advice, asking.cores, asking.memory, owners)
    return advice if matrices is None else by_strategy(advice, matrices, given.strategy)


def _say(reading: PrometheusReading, dropped: Mapping[str, int]) -> None:
    counts = dict(reading.dropped)
    for reason, number in dropped.items():
        counts[reason] = counts.get(reason, 0) + number
    if counts:
        said = ", ".join(f"{number} {why}" for why, number in sorted(counts.items()))
        sys.stderr.write(f"nemutator: samples left out: {said}\n")
    for one in reading.warnings:
        sys.stderr.write(f"nemutator: it warns: {visible(one, limit=300)}\n")
    if not reading.owners.pods:
        sys.stderr.write(
            "nemutator: it has no figures of kube-state-metrics: workloads are guessed from names of pods\n"
        )


def _found(given: argparse.Namespace) -> PrometheusFinding:
    """That of the cluster, as whoever its kubeconfig names."""
    if given.prometheus_tenant or given.prometheus_token_file or given.prometheus_user:
        # The API server keeps such headers for itself.
        raise _usage("nobody signs in through the API server", "name the Prometheus by its URL")
    from nemutator_ctl.advise.found_prometheus import FoundPrometheus

    access = arguments.cluster_access(given)
    services = access.services()

    def opened(service: FoundService) -> FoundPrometheus:
        sys.stderr.write(f"nemutator: asks {service} by the API server\n")
        return FoundPrometheus(access, service)

    return PrometheusFinding(lambda: services, opened, SystemClock())


def _client(given: argparse.Namespace) -> PrometheusClient:
    address = _address(given.prometheus)
    headers = {"X-Scope-OrgID": _header(given.prometheus_tenant)} if given.prometheus_tenant else {}
    token, password = given.prometheus_token_file, given.prometheus_password_file
    if token and password:
        raise _usage("both a token and a password are named", "name one of them")
    if bool(password) != bool(given.prometheus_user):
        raise _usage("a user and a password belong together", "name both, or none")
    if (token or password) and address.scheme != "https" and not is_private(given.prometheus):
        raise _usage("a secret would be readable on the way", "name it by https://")
    if token:
        headers["Authorization"] = f"Bearer {_header(_content(token))}"
    elif password:
        pair = f"{given.prometheus_user}:{_content(password)}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    return PrometheusClient(address, headers, _trust(given, address))


def _address(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        parts, good = urlsplit(""), None
    if not good or parts.query or parts.fragment or parts.username:
        raise _usage(
            f"{url.rpartition('@')[2]!r} is no address", "write http[s]://HOST[:PORT][/PATH]"
        )
    return parts


def _trust(given: argparse.Namespace, address: SplitResult) -> ssl.SSLContext | None:
    certificate, key = given.prometheus_certificate_file, given.prometheus_key_file
    if bool(certificate) != bool(key):
        raise _usage("a certificate and its key belong together", "name both, or none")
    if address.scheme != "https":
        return None
    try:
        context = ssl.create_default_context(cafile=given.prometheus_ca_file)
        if certificate:
            context.load_cert_chain(certificate, key)
    except (OSError, ValueError) as error:
        raise _usage("a file of certificates cannot be read", "name files in PEM") from error
    return context


def _content(file: Path) -> str:
    try:
        return file.read_text()[: 64 << 10].strip()
    except (OSError, ValueError) as error:
        raise _usage(f"{file} cannot be read", "name a file that this user can read") from error


def _header(text: str) -> str:
    # Only a word may get into a header: another file, such as a private key, must not be sent.
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise _usage(
            "what would be sent is no token", "name a file that holds one, and nothing else"
        )
    return text


def _usage(what: str, remedy: str) -> OperatorError:
    return OperatorError(what, remedy=remedy, code=ExitCode.USAGE)


def document_of(advice: list[Advice]) -> Any:
    return msgspec.to_builtins(AdviceList(items=advice))
