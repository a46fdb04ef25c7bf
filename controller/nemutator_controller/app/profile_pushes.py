"""Where finished profiles are sent on to, from the settings."""

from collections.abc import Iterator

from nemutator_common.process import Process

from nemutator_controller.app.http_accounts import http_account, reread
from nemutator_controller.profiles.push_bodies import (
    PARCA_PATH,
    PYROSCOPE_PATH,
    parca_body,
    pyroscope_body,
)
from nemutator_controller.profiles.push_http import HttpPush
from nemutator_controller.settings.brain import BrainSettings


def push_destinations(settings: BrainSettings, process: Process) -> Iterator[HttpPush]:
    """One for each store that *settings* name. Raises OperatorError."""
    ca = reread(settings.push_ca_file, process)
    if settings.pyroscope:
        yield HttpPush(
            name="pyroscope",
            url=_url(settings.pyroscope, PYROSCOPE_PATH),
            body=pyroscope_body,
            headers={"Connect-Protocol-Version": "1"},
            account=http_account(
                "pyroscope",
                settings.pyroscope,
                process,
                token_file=settings.pyroscope_token_file,
                tenant=settings.pyroscope_tenant,
            ),
            ca=ca,
        )
    if settings.parca:
        yield HttpPush(
            name="parca",
            url=_url(settings.parca, PARCA_PATH),
            body=parca_body,
            account=http_account(
                "parca", settings.parca, process, token_file=settings.parca_token_file
            ),
            ca=ca,
        )


def _url(base: str, path: str) -> str:
    return base.rstrip("/") + path
