import pytest
from nemutator_ctl.installation import files
from nemutator_ctl.installation.object_paths import ObjectPlace
from nemutator_ctl.installation.rendered_manifests import everything


@pytest.mark.parametrize(
    ("place", "path", "name"),
    [
        (
            ObjectPlace("apps/v1", "Deployment", "web", "shop"),
            "/apis/apps/v1/namespaces/shop/deployments/web",
            "deployment.apps/web",
        ),
        (
            ObjectPlace("v1", "ConfigMap", "c", "shop"),
            "/api/v1/namespaces/shop/configmaps/c",
            "configmap/c",
        ),
        (ObjectPlace("v1", "Namespace", "n", ""), "/api/v1/namespaces/n", "namespace/n"),
    ],
)
def test_an_object_lies_where_the_api_has_it(place: ObjectPlace, path: str, name: str) -> None:
    assert (place.path, str(place)) == (path, name)


def test_each_kind_that_is_shipped_has_its_place() -> None:
    shipped = files.shipped()
    for document in (*everything(shipped), *shipped.definitions):
        place = ObjectPlace.of(document)
        assert bool(place.namespace) == ("/namespaces/nemutator/" in place.path), place
