import pytest
from nemutator_agent.credentials.http_refusals import (
    faulty,
    not_attested,
    of_vault,
    too_many,
    undeclared,
    without_key,
)
from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.failures import (
    LoginRefusedError,
    NoAccountTokenError,
    SecretMissingError,
    TokenGoneError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)
from nemutator_agent.identity.failures import AttestationError
from nemutator_common.declarations import DeclarationError, Reference

from tests.fakes.peers import POD

ACCOUNT = account(POD, None)


@pytest.mark.parametrize(
    ("error", "status", "step", "remedy"),
    [
        (VaultUnavailableError("sealed", "Vault is sealed"), 503, "vault", "unseal it"),
        (
            VaultUnavailableError("timeout", "no answer"),
            503,
            "vault",
            "whether this node reaches it",
        ),
        (VaultUnavailableError("tls", "unknown issuer"), 503, "vault", "vault_ca_file"),
        (NoAccountTokenError("none"), 503, "token", "tokenRequests"),
        (LoginRefusedError("invalid role"), 403, "login", "auth/k8s/role/shop.api in Vault"),
        (VaultDeniedError("permission denied"), 403, "vault", "a policy that may read secret/db"),
        (TokenGoneError("invalid token"), 403, "vault", "a policy"),
        (SecretMissingError("nothing"), 404, "vault", "correct the reference"),
        (UnsupportedSecretError("transit"), 400, "vault", "that can be read"),
    ],
)
def test_each_failure_names_its_step_and_a_remedy(
    error: VaultError, status: int, step: str, remedy: str
) -> None:
    refusal = of_vault(error, account=ACCOUNT, path="secret/db", auth_mount="k8s")
    assert (refusal.status, refusal.step) == (status, step)
    assert remedy in refusal.remedy
    assert (refusal.retry_after_s is not None) == (status == 503)


@pytest.mark.parametrize(("known_s", "after_s"), [(None, 5), (0.0, 1), (7.2, 8)])
def test_an_outage_says_when_to_ask_again(known_s: float | None, after_s: int) -> None:
    error = VaultUnavailableError("busy", "quota", retry_after_s=known_s)
    refusal = of_vault(error, account=ACCOUNT, path="secret/db", auth_mount="kubernetes")
    assert refusal.retry_after_s == after_s


@pytest.mark.parametrize(
    "error", [VaultDeniedError("permission denied"), SecretMissingError("nothing")]
)
def test_who_writes_the_path_of_the_api_is_told_to_write_that_of_the_command(
    error: VaultError,
) -> None:
    refusal = of_vault(error, account=ACCOUNT, path="secret/data/db", auth_mount="kubernetes")
    assert "leave data/ out" in refusal.remedy


def test_who_may_have_no_certificate_is_told_which_right_it_takes() -> None:
    path = "pki/issue/shop?common_name=a.b"
    error = VaultDeniedError("permission denied")
    refusal = of_vault(error, account=ACCOUNT, path=path, auth_mount="kubernetes")
    assert refusal.remedy == "give the role a policy with the capability update for pki/issue/shop"


def test_a_refused_login_says_for_whom_the_role_must_be() -> None:
    error = LoginRefusedError("invalid role name")
    refusal = of_vault(error, account=ACCOUNT, path="secret/db", auth_mount="kubernetes")
    assert "service account api in namespace shop" in refusal.remedy
    assert "audience vault" in refusal.remedy


def test_a_failure_of_no_known_kind_is_a_defect() -> None:
    with pytest.raises(VaultError):
        of_vault(VaultError("?"), account=ACCOUNT, path="secret/db", auth_mount="kubernetes")


def test_a_stranger_learns_which_step_failed() -> None:
    refusal = not_attested(AttestationError("other pod", "the caller is in pod u-2"))
    assert (refusal.status, refusal.step) == (403, "other pod")
    assert "u-2" in refusal.error


def test_an_unknown_name_is_answered_with_those_that_are_declared() -> None:
    refusal = undeclared("x" * 1000, {"db", "api"})
    assert refusal.status == 404
    assert "declared are: api, db" in refusal.remedy
    assert len(refusal.error) < 200


def test_keys_are_listed_on_one_line_however_they_are_called() -> None:
    keys = {"user", "two\nlines", *(f"{number}{'x' * 5000}" for number in range(100))}
    refusal = without_key(Reference("secret/app/db", "a\x1b[2J"), keys)
    assert refusal.error == r"secret/app/db has no key 'a\x1b[2J'"
    assert refusal.remedy.isprintable()
    assert len(refusal.remedy) < 8_000
    few = without_key(Reference("secret/app/db", "a"), {"user", "two\nlines"})
    assert few.remedy == r"its keys are: 'two\nlines', user"


def test_what_cannot_be_understood_is_shown() -> None:
    refusal = faulty(DeclarationError(("secret.db: expected mount/path#key",)))
    assert (refusal.status, refusal.step) == (400, "declaration")
    assert "secret.db" in refusal.error


def test_who_asks_too_often_is_told_when_to_come_back() -> None:
    assert (too_many().status, too_many().retry_after_s) == (429, 1)
