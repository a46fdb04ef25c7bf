import pytest
from nemutator_agent.credentials.vault_api.api_request import SentRequest, parse
from nemutator_agent.credentials.vault_api.operations import by_method, operation_of


@pytest.mark.parametrize(
    ("method", "path", "operation"),
    [
        ("GET", "secret/data/x", "read"),
        ("GET", "secret/metadata/x?list=true", "list"),
        ("PUT", "transit/sign/app?list=true", "write"),
        ("PATCH", "secret/data/x", "write"),
        ("DELETE", "secret/data/x", "delete"),
        ("GET", "sys/health", "lookup"),
        ("PUT", "sys/leases/renew", "lease"),
        ("PUT", "sys/wrapping/unwrap", "unwrap"),
    ],
)
def test_each_request_has_a_word_in_the_audit(method: str, path: str, operation: str) -> None:
    query = (("list", "true"),) if "?" in path else ()
    sent = SentRequest(method=method, target=f"/v1/{path}", headers={}, query=query)
    assert operation_of(parse(sent, namespace="")) == operation


@pytest.mark.parametrize(
    ("method", "operation"), [("HEAD", "read"), ("DELETE", "delete"), ("BREW", "write")]
)
def test_what_cannot_be_understood_is_named_by_its_method(method: str, operation: str) -> None:
    assert by_method(method) == operation
