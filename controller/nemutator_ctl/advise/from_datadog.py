"""Advice from an account with Datadog alone."""

import argparse
from urllib.parse import urlsplit

from nemutator_common.system_clock import SystemClock
from nemutator_controller.setting_checks import is_private, web_address_or_host
from nemutator_controller.sizing.documents import Advice
from nemutator_controller.sizing.sources.datadog_questions import (
    API_KEY,
    APPLICATION_KEY,
    is_value,
    site_url,
)
from nemutator_controller.sizing.sources.datadog_reading import DatadogReading
from nemutator_controller.sizing.sources.named_owners import NamedOwners

from nemutator_ctl.advise.datadog_client import DatadogClient
from nemutator_ctl.advise.from_records import advice_from, recommended, refused, word_in

REMEDY = "name its site (--datadog datadoghq.eu) and keys of it, or see --help"

LONGEST_WAIT_S = 120.0
"""A person waits for so long, until it may be asked again."""


def recommended_by_datadog(given: argparse.Namespace) -> list[Advice]:
    """What *given* asks of its Datadog; raises `OperatorError`."""
    client = _client(given)
    for name in filter(None, (given.datadog_cluster, given.namespace)):
        if not is_value(name):
            raise refused(f"{name[:100]!r} is no name", "write it as Datadog shows it")

    async def recommend(begin: float, now: float) -> list[Advice]:
        reading = DatadogReading(
            client,
            NamedOwners(),
            SystemClock(),
            cluster=given.datadog_cluster,
            namespace=given.namespace,
            longest_wait_s=LONGEST_WAIT_S,
        )
        return await advice_from(reading, given.strategy, begin=begin, now=now)

    return recommended(given, recommend, remedy=REMEDY)


def _client(given: argparse.Namespace) -> DatadogClient:
    url = site_url(given.datadog)
    if not given.datadog or web_address_or_host(given.datadog):
        raise refused(f"{given.datadog[:100]!r} is no site", "write it like datadoghq.eu")
    api, application = given.datadog_api_key_file, given.datadog_application_key_file
    if api is None or application is None:
        what = "it is asked with an API key and an application key"
        raise refused(
            what, "name files with --datadog-api-key-file and --datadog-application-key-file"
        )
    if not url.startswith("https://") and not is_private(url):
        raise refused("keys would be readable on the way", "name it by https://, or by its site")
    keys = {API_KEY: word_in(api), APPLICATION_KEY: word_in(application)}
    return DatadogClient(urlsplit(url), keys)
