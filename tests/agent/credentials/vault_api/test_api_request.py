import contextlib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.vault_api.api_request import (
    ApiRequest,
    SentRequest,
    is_for_vault,
    parse,
)

NONE: Mapping[str, str] = {}


def parsed(
    target: str = "/v1/secret/data/x",
    *,
    method: str = "GET",
    headers: Mapping[str, str] = NONE,
    query: tuple[tuple[str, str], ...] = (),
    body: bytes = b"",
) -> ApiRequest:
    sent = SentRequest(method=method, target=target, headers=headers, query=query, body=body)
    return parse(sent, namespace="team-a/")


@pytest.mark.parametrize("name", ["X-Vault-Request", "x-vault-token", "X-VAULT-NAMESPACE"])
def test_a_client_of_vault_is_known_by_its_headers(name: str) -> None:
    assert is_for_vault({"Host": "x", name: ""})
    assert not is_for_vault({"Host": "x", "X-Not-Vault": "1"})


def test_a_request_is_taken_apart() -> None:
    request = parsed(
        "/v1/secret/metadata/x?list=true",
        headers={"X-Vault-Token": "hvs.mine", "X-Vault-Wrap-TTL": "1m30s"},
        query=(("list", "true"),),
    )
    assert request.is_list
    assert (request.path, request.wrap_ttl) == ("secret/metadata/x", "1m30s")
    assert "hvs.mine" not in repr(request)
    patched = parsed(
        method="PATCH",
        headers={"Content-Type": "application/merge-patch+json; charset=utf-8"},
        body=b'{"data": {}}',
    )
    assert patched.merge_patch
    assert patched.document() == {"data": {}}
    assert not patched.is_list


@pytest.mark.parametrize(
    ("headers", "status", "step"),
    [
        ({"X-Vault-Namespace": "team-b"}, 403, "namespace"),
        ({"X-Vault-Namespace": "team-a/below"}, 403, "namespace"),
        ({"X-Vault-Wrap-TTL": "soon"}, 400, "wrapping"),
        ({"X-Vault-Wrap-TTL": "60s\r\nX-Vault-Token: y"}, 400, "wrapping"),
    ],
)
def test_headers_that_lead_elsewhere_are_refused(
    headers: Mapping[str, str], status: int, step: str
) -> None:
    with pytest.raises(HttpRefusal) as refused:
        parsed(headers=headers)
    assert (refused.value.status, refused.value.step) == (status, step)


@pytest.mark.parametrize("body", [b"[]", b"{", b'"text"', b"1", b"[" * 60_000])
def test_a_body_that_is_no_object_is_refused_where_it_is_looked_at(body: bytes) -> None:
    request = parsed("/v1/sys/leases/renew", method="PUT", body=body)
    with pytest.raises(HttpRefusal, match="no JSON object"):
        request.document()


def test_what_is_not_text_or_too_long_is_refused() -> None:
    with pytest.raises(HttpRefusal, match="not UTF-8"):
        parsed(method="PUT", body=b"\xff")
    with pytest.raises(HttpRefusal, match="query is too long"):
        parsed(query=(("version", "1" * 3000),))


@pytest.mark.parametrize("body", [b"", b"null", b"{}"])
def test_a_body_without_anything_is_an_empty_object(body: bytes) -> None:
    assert parsed("/v1/sys/wrapping/unwrap", method="PUT", body=body).document() == {}


@given(
    st.sampled_from(["GET", "PUT", "DELETE"]),
    st.text(max_size=30),
    st.dictionaries(st.text(max_size=9), st.text(max_size=9), max_size=3),
    st.binary(max_size=30),
)
def test_nothing_comes_of_a_request_but_itself_or_a_refusal(
    method: str, path: str, headers: dict[str, str], body: bytes
) -> None:
    with contextlib.suppress(HttpRefusal):
        parsed(f"/v1/{path}", method=method, headers=headers, body=body).document()
