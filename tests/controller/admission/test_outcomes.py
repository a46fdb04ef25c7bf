"""Which namespaces are left alone, and how an object is called before it has its name."""

from nemutator_controller.admission.outcomes import NEVER, Rules, called
from nemutator_controller.mutations.decisions import Subject


def test_the_namespaces_that_the_cluster_lives_in_and_our_own_are_left_alone() -> None:
    rules = Rules(own_namespace="nemutator", injector=None, strict=False)
    assert all(map(rules.leaves_alone, {*NEVER, "nemutator"}))
    assert not rules.leaves_alone("default")


def test_an_object_is_called_by_what_is_known_of_its_name() -> None:
    named = Subject(api_version="v1", kind="Pod", namespace="shop", name="web")
    assert called(named) == "shop/web"
    new = Subject(api_version="v1", kind="Pod", namespace="shop", name="", generate_name="web-")
    assert called(new) == "shop/web-…"
