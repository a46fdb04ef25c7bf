"""Where finished profiles are sent on to, from the settings."""

from collections.abc import Iterator
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.shipping.files import RereadFile

from nemutator_controller.profiles.push_bodies import (
    PARCA_PATH,
    PYROSCOPE_PATH,
    parca_body,
    pyroscope_body,
)
from nemutator_controller.profiles.push_http import HttpPush
from nemutator_controller.settings import BrainSettings, is_private


def push_destinations(settings: BrainSettings, process: Process) -> Iterator[HttpPush]:
    """One for each store that *settings* name. Raises OperatorError."""
    ca = _file(settings.push_ca_file, process)
    if settings.pyroscope:
        tenant = settings.pyroscope_tenant
        yield HttpPush(
            name="pyroscope",
            url=_url(settings.pyroscope, PYROSCOPE_PATH),
            body=pyroscope_body,
            headers={"Connect-Protocol-Version": "1"}
            | ({"X-Scope-OrgID": tenant} if tenant else {}),
            token=_token("pyroscope", settings.pyroscope, settings.pyroscope_token_file, process),
            ca=ca,
        )
    if settings.parca:
        yield HttpPush(
            name="parca",
            url=_url(settings.parca, PARCA_PATH),
            body=parca_body,
            token=_token("parca", settings.parca, settings.parca_token_file, process),
            ca=ca,
        )


def _url(base: str, path: str) -> str:
    return base.rstrip("/") + path


def _file(name: str, process: Process) -> RereadFile | None:
    return RereadFile(Path(name), process.clock, reason="file") if name else None


def _token(store: str, url: str, file: str, process: Process) -> RereadFile | None:
    if file and not url.startswith("https://") and not is_private(url):
        raise OperatorError(
            f"brain.{store}: a token would be readable by everybody on the way to {url}",
            remedy=f"name it by https://, or leave brain.{store}_token_file empty",
            code=ExitCode.USAGE,
        )
    return _file(file, process)
