import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.console.permissions import PERMISSIONS, Permission, needed, unlisted


@pytest.mark.parametrize(
    ("method", "path", "permission"),
    [
        ("GET", "/api/v1/topology", "get topology.nemutator.io"),
        ("HEAD", "/api/v1/topology", "get topology.nemutator.io"),
        ("GET", "/api/v1/profiles/x/flamegraph", "get profiles.nemutator.io"),
        ("POST", "/api/v1/profiles", "create profiles.nemutator.io"),
        ("POST", "/api/v1/mutations/x/rollback", "update mutations.nemutator.io"),
    ],
)
def test_what_a_request_needs(method: str, path: str, permission: str) -> None:
    assert str(needed(method, path)) == permission


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/api/v1/topology"),
        ("POST", "/api/v1/topology"),
        ("GET", "/api/v1/"),
        ("GET", "/api/v1/profiles/"),
        ("GET", "/api/v1/profiles//pprof"),
        ("GET", "/api/v1/topology/x"),
        ("POST", "/api/v1/console-links"),
        ("GET", "/api/v1"),
        ("GET", "/"),
    ],
)
def test_of_what_is_not_in_the_table_nothing_is_allowed(method: str, path: str) -> None:
    assert needed(method, path) is None


def test_changes_need_more_than_looking() -> None:
    for (method, _), permission in PERMISSIONS.items():
        assert (permission.verb == "get") == (method == "GET")
        assert not (permission.narrows and method != "GET")


def test_a_route_without_an_entry_is_found() -> None:
    assert not unlisted("GET", "/api/v1/profiles/{id}/pprof")
    assert unlisted("GET", "/api/v1/secrets/{id}")
    assert not unlisted("GET", "/index.html")


@given(st.text(), st.text())
def test_any_request_is_judged(method: str, path: str) -> None:
    found = needed(method, f"/api/v1/{path}")
    assert found is None or isinstance(found, Permission)
