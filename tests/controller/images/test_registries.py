"""Whom the brain may ask, and where it lets itself be sent."""

import pytest
from nemutator_controller.images.registries import parse_registries

ALLOWED = parse_registries("docker.io, Registry.Example:5000,http://inside.local:5000 ,")


@pytest.mark.parametrize(
    ("registry", "origin"),
    [
        ("docker.io", "https://registry-1.docker.io"),
        ("registry.example:5000", "https://registry.example:5000"),
        ("inside.local:5000", "http://inside.local:5000"),
        ("inside.local", None),
        ("registry.example", None),
        ("ghcr.io", None),
    ],
)
def test_only_what_the_setting_names_is_asked(registry: str, origin: str | None) -> None:
    assert ALLOWED.origin(registry) == origin


@pytest.mark.parametrize(
    ("scheme", "netloc", "may"),
    [
        ("https", "auth.docker.io", True),
        ("https", "cdn.example:8443", True),
        ("http", "cdn.example", False),
        ("http", "inside.local:5000", True),
        ("https", "inside.local:5000", False),
        ("http", "registry.example:5000", False),
        ("https", "registry.example:5000", True),
        ("https", "127.0.0.1", False),
        ("https", "169.254.169.254", False),
        ("https", "[::1]:443", False),
        ("https", "2130706433", False),
        ("ftp", "cdn.example", False),
        ("file", "", False),
    ],
)
def test_nobody_sends_it_inside(scheme: str, netloc: str, may: bool) -> None:
    host = netloc if netloc.startswith("[") else netloc.partition(":")[0]
    assert ALLOWED.may_be_sent_to(scheme, host.strip("[]").partition("]")[0], netloc) is may


@pytest.mark.parametrize(
    "text", ["https://a.b", "a.b/c", "a b", "http://", "ftp://a", "user@a.b", "a.b:x", "*", "[::1]"]
)
def test_what_is_no_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected hosts with commas between"):
        parse_registries(text)


def test_nothing_is_allowed_without_a_setting() -> None:
    assert parse_registries("").plain == {}
