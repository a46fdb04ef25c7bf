import pytest
from nemutator_controller.setting_checks import (
    dns_label,
    header,
    host_names,
    is_private,
    label_pairs,
    listening,
    loopback,
    some_of,
    web_address,
    words_in,
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


@pytest.mark.parametrize(
    "text",
    ["", "https://pyroscope:4040", "http://127.0.0.1:1", "https://x/prefix/", "https://[::1]"],
)
def test_another_store_is_named_by_its_address(text: str) -> None:
    assert web_address(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "pyroscope:4040", "ftp://x", "https://", "https://a:b@x", "https://x?token=1",
        "https://x#y", "https://x y", "https://x:999999", "https://[", "https://x\r\ny",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_store_or_holds_a_secret_is_refused(text: str) -> None:
    assert web_address(text) is not None


def test_only_this_machine_is_private() -> None:
    assert all(map(is_private, ("http://localhost:1", "http://127.0.0.1", "http://[::1]:4")))
    assert not any(map(is_private, ("http://10.0.0.1", "http://pyroscope", "http://[", "")))


def test_a_tenant_is_a_header() -> None:
    assert header("team-a") is None
    assert header("") is None
    assert header("a\r\nb") is not None


@pytest.mark.parametrize("text", ["a b", ",", "a,,b", "-a", "*"])
def test_what_is_no_name_is_said(text: str) -> None:
    assert host_names(text) is not None


@pytest.mark.parametrize(("text", "good"), [("nemutator", True), ("Team", False), ("", False)])
def test_accounts_are_called_as_kubernetes_allows(text: str, good: bool) -> None:
    assert (dns_label(text) is None) is good


@pytest.mark.parametrize("text", ["", "pool=reserve", "example.com/pool=reserve,zone=a", "pool="])
def test_nodes_are_named_by_what_their_labels_have_to_be(text: str) -> None:
    assert label_pairs(text) is None


@pytest.mark.parametrize("text", ["pool", "pool in (a)", "pool!=a", "a=b,", "a=b c"])
def test_anything_else_names_no_nodes(text: str) -> None:
    assert label_pairs(text) == "expected labels like pool=reserve, with commas between"


def test_several_words_are_some_of_those_that_are_known() -> None:
    check = some_of({"usage", "advice"})
    assert [check(text) for text in ("", "usage", " usage ,advice,")] == [None] * 3
    assert check("usage, all") == "expected some of advice, usage"
    assert words_in(" usage ,advice,") == {"usage", "advice"}
