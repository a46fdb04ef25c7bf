"""A caller's certificate is for whom its common and alternative names say, and for nobody else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.client_certificates import (
    ClientRefusedError,
    check_client,
    names_in,
)

CERTIFICATE: dict[str, Any] = {
    "subject": (
        (("organizationName", "system:masters"),),
        (("commonName", "apiserver"), ("emailAddress", "a@example.org")),
    ),
    "issuer": ((("commonName", "authority"),),),
    "subjectAltName": (
        ("DNS", "kube.example.org"),
        ("URI", "spiffe://example.org/apiserver"),
        ("IP Address", "192.0.2.1"),
        ("email", "b@example.org"),
        ("DirName", ((("commonName", "directory"),),)),
    ),
}
NAMES = frozenset({"apiserver", "kube.example.org", "spiffe://example.org/apiserver", "192.0.2.1"})


def test_names_are_the_common_name_and_the_alternatives() -> None:
    assert names_in(CERTIFICATE) == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_one_name_is_enough(name: str) -> None:
    check_client(CERTIFICATE, frozenset({name, "another"}))


@pytest.mark.parametrize(
    "name", ["authority", "system:masters", "a@example.org", "directory", "APISERVER", "*", ""]
)
def test_what_is_no_name_of_it_is_not_enough(name: str) -> None:
    with pytest.raises(
        ClientRefusedError, match=r"is for 192\.0\.2\.1, apiserver, .* names others"
    ):
        check_client(CERTIFICATE, frozenset({name}))


@pytest.mark.parametrize("none", [None, {}], ids=["plain", "not asked for"])
def test_without_a_certificate_there_is_no_name(none: dict[str, Any] | None) -> None:
    with pytest.raises(ClientRefusedError, match="is for nobody"):
        check_client(none, frozenset({"apiserver", ""}))
    check_client(none, frozenset())


@given(st.sets(st.text()), st.sets(st.text()))
def test_it_passes_when_the_two_sets_share_a_name(held: set[str], allowed: set[str]) -> None:
    certificate = {"subject": tuple((("commonName", name),) for name in held)}
    try:
        check_client(certificate, frozenset(allowed))
    except ClientRefusedError:
        assert allowed
        assert not allowed & held
    else:
        assert not allowed or allowed & held
