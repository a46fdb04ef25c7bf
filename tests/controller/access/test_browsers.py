import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.addresses import TcpAddress
from nemutator_controller.access.browsers import (
    HEADERS,
    distrust,
    hosts_of,
    is_foreign,
    is_prefetch,
)

HOSTS = hosts_of(TcpAddress("127.0.0.1", 8420))


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8420", "localhost:8420", "LOCALHOST:8420", "[::1]:8420"]
)
def test_this_machines_own_names_are_trusted(host: str) -> None:
    assert distrust("GET", {"Host": host}, HOSTS) is None


@given(st.text())
def test_no_other_host_is(host: str) -> None:
    if host.lower() not in HOSTS:
        assert distrust("GET", {"Host": host}, HOSTS) == "host"


@pytest.mark.parametrize("headers", [{}, {"Host": ""}, {"Host": "127.0.0.1"}, {"Host": "a:8420"}])
def test_a_missing_or_wrong_host_is_refused(headers: dict[str, str]) -> None:
    assert distrust("GET", headers, HOSTS) == "host"


@pytest.mark.parametrize(
    "more",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_change_asked_for_by_another_site_is_refused(more: dict[str, str]) -> None:
    headers = {"Host": "localhost:8420", **more}
    assert distrust("POST", headers, HOSTS) == "origin"
    assert distrust("GET", headers, HOSTS) is None


def test_a_change_asked_for_by_the_page_is_not() -> None:
    page = {"Host": "localhost:8420", "Origin": "http://localhost:8420"}
    assert distrust("POST", page | {"Sec-Fetch-Site": "same-origin"}, HOSTS) is None


def test_a_prefetch_is_no_click() -> None:
    assert is_prefetch({"Sec-Purpose": "prefetch;prerender"})
    assert is_prefetch({"Purpose": "prefetch"})
    assert not is_prefetch({})


def test_nothing_inline_may_run() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("method", "headers", "foreign"),
    [
        ("GET", {"Host": "brain", "Origin": "https://evil"}, False),
        ("POST", {"Host": "brain"}, False),
        ("POST", {"Host": "brain", "Origin": "https://brain"}, False),
        ("POST", {"Host": "brain", "Origin": "https://evil"}, True),
        ("POST", {"Host": "brain", "Origin": "http://brain"}, True),
        ("POST", {"Host": "brain", "Origin": "null"}, True),
        ("POST", {"Host": "brain", "Sec-Fetch-Site": "cross-site"}, True),
        ("DELETE", {"Host": "brain", "Sec-Fetch-Site": "same-site"}, True),
        ("POST", {"Host": "brain", "Sec-Fetch-Site": "same-origin"}, False),
    ],
)
def test_a_change_that_another_page_may_have_asked_for_is_foreign(
    method: str, headers: dict[str, str], foreign: bool
) -> None:
    assert is_foreign(method, headers) is foreign
