import pytest
from nemutator_agent.settings.credentials import CredentialsSettings
from nemutator_common.errors import OperatorError
from nemutator_common.settings import resolve


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("vault_address", "vault.example:8200"),
        ("vault_address", "https://vault.example/v1"),
        ("vault_address", "https://user:password@vault.example"),
        ("vault_auth_mount", "auth/../sys"),
        ("vault_auth_mount", "/kubernetes"),
        ("agent_socket", "relative.sock"),
        ("fresh_s", "301"),
        ("requests_per_s", "0"),
    ],
)
def test_a_bad_setting_of_credentials_is_named(name: str, value: str) -> None:
    with pytest.raises(OperatorError, match="--" + name.replace("_", "-")):
        resolve(CredentialsSettings, file={}, environment={}, flags={name: value})


@pytest.mark.parametrize("method", ["kubernetes", "jwt"])
def test_a_login_method_is_mounted_under_its_own_name(method: str) -> None:
    flags = {"vault_auth_method": method}
    assert (
        resolve(CredentialsSettings, file={}, environment={}, flags=flags).values.auth_mount
        == method
    )


def test_vault_may_be_anywhere_and_its_login_below_a_path() -> None:
    flags = {"vault_address": "https://[::1]:8200", "vault_auth_mount": "clusters/one"}
    found = resolve(CredentialsSettings, file={}, environment={}, flags=flags).values
    assert found.vault_address == "https://[::1]:8200"
    assert found.auth_mount == "clusters/one"
    assert found.name_of("web-1") == "web-1"
