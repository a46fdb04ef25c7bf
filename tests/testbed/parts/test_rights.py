"""Rights are told apart by who has them, and read out of an audit log as roles name them."""

from tests.testbed.parts.rights import Right, given_by, is_refused, right_in

ROLE = {
    "kind": "ClusterRole",
    "metadata": {"name": "ours"},
    "rules": [
        {"apiGroups": ["", "apps"], "resources": ["pods/resize"], "verbs": ["get", "patch"]},
        {"nonResourceURLs": ["/openid/v1/jwks"], "verbs": ["get"]},
    ],
}
BINDING = {
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "other"},
    "roleRef": {"kind": "ClusterRole", "name": "ours"},
    "subjects": [{"kind": "ServiceAccount", "name": "brain", "namespace": "nemutator"}],
}


def event(user: str, verb: str, **about: str) -> dict[str, object]:
    return {"user": {"username": user}, "verb": verb, "objectRef": about, "requestURI": "/x?y=1"}


def test_each_group_resource_and_verb_of_a_rule_is_a_right_of_who_is_bound() -> None:
    assert set(given_by([BINDING, ROLE])) == {
        Right("brain", "get", "pods/resize"),
        Right("brain", "patch", "pods/resize"),
        Right("brain", "get", "pods.apps/resize"),
        Right("brain", "patch", "pods.apps/resize"),
        Right("brain", "get", "/openid/v1/jwks"),
    }


def test_a_role_that_nobody_is_bound_to_gives_nothing() -> None:
    assert list(given_by([ROLE])) == []


def test_what_an_account_of_any_namespace_has_asked_for_is_named_as_its_role_names_it() -> None:
    who = "system:serviceaccount:team:brain"
    asked = event(who, "patch", resource="leases", apiGroup="coordination.k8s.io", name="x")
    assert right_in(asked) == Right("brain", "patch", "leases.coordination.k8s.io")
    resized = event(who, "patch", resource="pods", subresource="resize")
    assert right_in(resized) == Right("brain", "patch", "pods/resize")
    assert right_in(event(who, "get")) == Right("brain", "get", "/x")


def test_what_people_and_nodes_have_asked_for_is_nobodys_right() -> None:
    assert right_in(event("system:node:one", "get", resource="pods")) is None


def test_only_a_refusal_is_one() -> None:
    assert is_refused({"responseStatus": {"code": 403}})
    assert not is_refused({"responseStatus": {"code": 404}})
    assert not is_refused({})
