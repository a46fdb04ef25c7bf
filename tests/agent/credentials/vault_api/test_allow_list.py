import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.vault.documents import RESERVED
from nemutator_agent.credentials.vault_api.allow_list import (
    Purpose,
    purpose_of,
)

ALLOWED = {
    ("GET", "sys/health"): Purpose.HEALTH,
    ("GET", "sys/internal/ui/mounts/secret"): Purpose.MOUNT,
    ("POST", "sys/capabilities-self"): Purpose.CAPABILITIES,
    ("PUT", "sys/capabilities-self"): Purpose.CAPABILITIES,
    ("GET", "auth/token/lookup-self"): Purpose.TOKEN,
    ("PUT", "auth/token/renew-self"): Purpose.TOKEN,
    ("PUT", "sys/leases/lookup"): Purpose.LEASE,
    ("PUT", "sys/leases/renew"): Purpose.LEASE,
    ("POST", "sys/leases/revoke"): Purpose.LEASE,
    ("PUT", "sys/wrapping/lookup"): Purpose.WRAPPING,
    ("PUT", "sys/wrapping/unwrap"): Purpose.WRAPPING,
    ("PUT", "sys/wrapping/rewrap"): Purpose.WRAPPING,
    ("GET", "secret/data/x"): Purpose.DATA,
    ("PATCH", "secret/data/x"): Purpose.DATA,
    ("DELETE", "secret/metadata/x"): Purpose.DATA,
    ("PUT", "transit/encrypt/app"): Purpose.DATA,
}


@pytest.mark.parametrize(("method", "path"), ALLOWED)
def test_what_applications_need_is_let_through(method: str, path: str) -> None:
    assert purpose_of(method, path) is ALLOWED[method, path]


@pytest.mark.parametrize(
    "path",
    [
        "auth/kubernetes/login",
        "auth/token/create",
        "auth/token/create-orphan",
        "auth/token/create/role",
        "auth/token/revoke",
        "auth/token/revoke-self",
        "auth/token/revoke-accessor",
        "auth/token/lookup",
        "auth/token/lookup-self/x",
        "auth/token/renew",
        "auth/approle/role/x/secret-id",
        "identity/oidc/token/app",
        "identity/entity",
        "sys",
        "sys/seal",
        "sys/step-down",
        "sys/policies/acl/x",
        "sys/mounts",
        "sys/internal/ui/mounts",
        "sys/internal/counters/tokens",
        "sys/leases/revoke-prefix/database",
        "sys/leases/revoke-force/database",
        "sys/leases/lookup/database/creds",
        "sys/leases/revoke/database/creds/shop/abc",
        "sys/renew",
        "sys/revoke",
        "sys/wrapping/wrap",
        "sys/capabilities",
        "sys/capabilities-accessor",
        "sys/raw/x",
        "sys/tools/random",
        "sys/generate-root/attempt",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH"])
def test_nothing_lets_a_pod_step_out_of_its_identity(method: str, path: str) -> None:
    with pytest.raises(HttpRefusal) as refused:
        purpose_of(method, path)
    assert (refused.value.status, refused.value.step) == (403, "allow list")
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "auth/token/lookup-self"),
        ("POST", "sys/health"),
        ("PUT", "sys/internal/ui/mounts/secret"),
        ("GET", "sys/wrapping/unwrap"),
        ("HEAD", "secret/data/x"),
        ("TRACE", "secret/data/x"),
        ("X" * 1000, "secret/data/x"),
    ],
)
def test_for_another_method_the_right_ones_are_named(method: str, path: str) -> None:
    with pytest.raises(HttpRefusal) as refused:
        purpose_of(method, path)
    assert refused.value.status == 405
    assert len(refused.value.error) < 100


@given(st.sampled_from(sorted(RESERVED)), st.text(), st.sampled_from(["GET", "PUT", "DELETE"]))
def test_of_vaults_own_paths_only_those_of_the_list_are_served(
    first: str, rest: str, method: str
) -> None:
    path = f"{first}/{rest}"
    try:
        purpose = purpose_of(method, path)
    except HttpRefusal:
        return
    assert (method, path) in ALLOWED or path.startswith("sys/internal/ui/mounts/")
    assert purpose is not Purpose.DATA
