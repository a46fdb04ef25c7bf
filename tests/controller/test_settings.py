import pytest
from nemutator_common.errors import OperatorError
from nemutator_common.settings import resolve
from nemutator_controller.settings import (
    BrainSettings,
    dns_label,
    host_names,
    listening,
    loopback,
)


@pytest.mark.parametrize("address", ["127.0.0.1:8420", "127.1.2.3:0", "[::1]:8420"])
def test_the_console_may_listen_on_loopback(address: str) -> None:
    assert loopback(address) is None


@pytest.mark.parametrize(
    "address", ["0.0.0.0:8420", "[::]:8420", "10.0.0.1:80", "localhost:1", "unix:/x", "", "8420"]
)
def test_the_console_may_not_listen_elsewhere(address: str) -> None:
    assert loopback(address) is not None


def test_what_is_no_address_to_listen_on_is_said() -> None:
    assert listening("0.0.0.0:9100") is None
    assert listening("8420") is not None


def test_every_problem_is_reported_at_once() -> None:
    flags = {"console": "0.0.0.0:1", "most_nodes": "0", "history_s": "1"}
    with pytest.raises(OperatorError) as refused:
        resolve(BrainSettings, file={}, environment={}, flags=flags)
    for flag in ("--console", "--most-nodes", "--history-s"):
        assert flag in refused.value.what


@pytest.mark.parametrize(
    ("text", "names"),
    [("", ()), ("brain.example.com, 10.0.0.1 ,::1", ("brain.example.com", "10.0.0.1", "::1"))],
)
def test_further_names_of_the_brain_are_a_list(text: str, names: tuple[str, ...]) -> None:
    assert host_names(text) is None
    assert BrainSettings(server_names=text).further_names == names


@pytest.mark.parametrize("text", ["a b", ",", "a,,b", "-a", "*"])
def test_what_is_no_name_is_said(text: str) -> None:
    assert host_names(text) is not None


@pytest.mark.parametrize(("text", "good"), [("nemutator", True), ("Team", False), ("", False)])
def test_accounts_are_called_as_kubernetes_allows(text: str, good: bool) -> None:
    assert (dns_label(text) is None) is good
