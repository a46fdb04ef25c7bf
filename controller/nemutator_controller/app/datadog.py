"""The Datadog that is asked what containers used, from the settings."""

from nemutator_common.process import Process

from nemutator_controller.app.http_accounts import reread, wrong
from nemutator_controller.setting_checks import is_private
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.sizing.sources.datadog_answers import LONGEST_WAIT_S
from nemutator_controller.sizing.sources.datadog_http import DatadogHttp, DatadogKeys
from nemutator_controller.sizing.sources.datadog_questions import site_url
from nemutator_controller.sizing.sources.datadog_reading import DatadogReading
from nemutator_controller.sizing.sources.named_owners import NamedOwners


def datadog_reading(
    settings: BrainSettings, process: Process, owners: NamedOwners
) -> DatadogReading | None:
    """The account that *settings* name; None: there is none to ask. Raises `OperatorError`."""
    if not settings.datadog:
        return None
    url = site_url(settings.datadog)
    api = reread(settings.datadog_api_key_file, process)
    application = reread(settings.datadog_application_key_file, process)
    if api is None or application is None:
        what = "it is asked with an API key and an application key"
        raise wrong("datadog", what, "name the files of both")
    if not url.startswith("https://") and not is_private(url):
        what = f"secrets would be readable by everybody on the way to {url}"
        raise wrong("datadog", what, "name it by https://, or by its site")
    return DatadogReading(
        DatadogHttp(url=url, keys=DatadogKeys(api, application), clock=process.clock),
        owners,
        process.clock,
        cluster=settings.datadog_cluster,
        # Nobody waits for it.
        longest_wait_s=LONGEST_WAIT_S,
    )
