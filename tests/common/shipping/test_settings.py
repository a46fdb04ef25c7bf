from dataclasses import dataclass
from typing import ClassVar

import pytest
from nemutator_common import names
from nemutator_common.settings import SettingsError, resolve
from nemutator_common.shipping.settings import CallsBrain


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller(CallsBrain):
    role: ClassVar[str] = names.OBSERVE


def test_a_role_has_them_under_its_own_name() -> None:
    environment = {"NEMUTATOR_OBSERVE_BRAIN": "https://brain.nemutator.svc:8421"}
    settings = resolve(Caller, file={}, environment=environment, flags={}).values
    assert settings.brain == "https://brain.nemutator.svc:8421"


@pytest.mark.parametrize("address", ["127.0.0.1:8420", "http://brain:80"])
def test_a_token_goes_nowhere_without_tls(address: str) -> None:
    with pytest.raises(SettingsError, match="https://host:port"):
        resolve(Caller, file={}, environment={}, flags={"brain": address})
