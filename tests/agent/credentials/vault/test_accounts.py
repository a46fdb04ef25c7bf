from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.publications import PublishedPod

POD = PublishedPod(namespace="shop", name="api-1", uid="u-1", service_account="api.v2")


def test_without_a_role_of_its_own_a_pod_uses_the_one_named_after_its_account() -> None:
    assert account(POD, None).role == "shop.api.v2"


def test_a_role_that_the_pod_names_counts() -> None:
    assert account(POD, "reader").role == "reader"


def test_each_pod_and_role_is_an_account_of_its_own() -> None:
    assert account(POD, None).key != account(POD, "reader").key
    assert account(POD, None).key != account(POD, None, vault_namespace="team-a").key


def test_a_path_is_told_with_the_namespace_that_the_pod_has_named() -> None:
    assert account(POD, None).located("secret/app") == "secret/app"
    assert account(POD, None, vault_namespace="a/b").located("secret/app") == "a/b/secret/app"
