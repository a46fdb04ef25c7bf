from pathlib import Path

import pytest
from nemutator_agent.settings import CredentialsSettings, MountSettings, ObserveSettings
from nemutator_common.errors import OperatorError
from nemutator_common.settings import resolve


def resolved(**flags: str) -> ObserveSettings:
    return resolve(ObserveSettings, file={}, environment={}, flags=flags).values


def test_the_defaults_need_nothing() -> None:
    settings = resolved()
    assert (settings.node, settings.brain, settings.snapshot_every_s) == ("", "", 3.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("node", "two words"),
        ("node", "x" * 254),
        ("node", "-a"),
        ("interval_s", "0.4"),
        ("interval_s", "61"),
        ("brain", "localhost"),
        ("brain", "unix:relative"),
        ("processes", "0"),
        ("descriptors", "1"),
    ],
)
def test_a_bad_value_is_named(name: str, value: str) -> None:
    with pytest.raises(OperatorError, match=value):
        resolved(**{name: value})


@pytest.mark.parametrize("address", ["unix:/run/brain.sock", "https://brain.svc:8421"])
def test_the_brain_may_be_anywhere(address: str) -> None:
    assert resolved(brain=address).brain == address


def test_a_node_is_called_as_its_host_unless_it_was_named() -> None:
    assert resolved().name_of("web-1.example") == "web-1.example"
    assert resolved(node="shown").name_of("under_score-") == "shown"


@pytest.mark.parametrize("host", ["", "under_score-", "two words", "x\n", "(none)"])
def test_a_host_name_that_no_brain_takes_is_said_at_the_start(host: str) -> None:
    with pytest.raises(OperatorError, match="host name cannot be reported") as raised:
        resolved().name_of(host)
    assert "--node" in raised.value.remedy


def test_kubelets_root_says_where_the_drivers_directories_are() -> None:
    flags = {"kubelet_root": "/data/kubelet", "driver": "x.io"}
    settings = resolve(MountSettings, file={}, environment={}, flags=flags).values
    assert settings.plugin_directory == Path("/data/kubelet/plugins/x.io")
    assert settings.registry_directory == Path("/data/kubelet/plugins_registry")
    flags |= {"plugin_dir": "/a", "registry_dir": "/b"}
    settings = resolve(MountSettings, file={}, environment={}, flags=flags).values
    assert (settings.plugin_directory, settings.registry_directory) == (Path("/a"), Path("/b"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("kubelet_root", "relative"), ("plugin_dir", "/a/../b"), ("driver", "x/y"), ("driver", "..")],
)
def test_a_place_that_is_none_is_named(name: str, value: str) -> None:
    with pytest.raises(OperatorError, match="expected"):
        resolve(MountSettings, file={}, environment={}, flags={name: value})


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


def test_windows_are_young_and_frequent_where_a_person_waits_for_them() -> None:
    assert ObserveSettings().window_pace == (60.0, 30.0, 10.0, 120.0)
    assert ObserveSettings(brain="unix:/run/brain.sock").window_pace[:2] == (60.0, 30.0)
    assert ObserveSettings(brain="https://brain:8421").window_pace == (
        3600.0,
        600.0,
        30.0,
        600.0,
    )
    chosen = ObserveSettings(brain="https://brain:8421", window_age_s=5.0, window_every_s=7.0)
    assert chosen.window_pace[:2] == (5.0, 7.0)


def test_a_full_node_of_a_cluster_is_looked_at_less_often() -> None:
    alone, cluster = resolved(), resolved(brain="https://brain.svc:8421")
    assert (alone.snapshot_every_s, alone.seldom_s) == (3.0, 15.0)
    assert (cluster.snapshot_every_s, cluster.seldom_s) == (7.5, 60.0)
    assert alone.members_s == cluster.members_s == 60.0
    assert resolved(brain="https://brain.svc:8421", interval_s="2").snapshot_every_s == 2.0
