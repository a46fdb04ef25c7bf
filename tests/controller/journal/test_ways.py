import pytest
from nemutator_controller.journal.ways import Way, way_of
from nemutator_controller.mutations.decisions import Maybe
from nemutator_controller.mutations.path_texts import parse_path

CPU = "containers[name=app].resources.requests.cpu"


@pytest.mark.parametrize(
    ("kind", "path", "wanted", "running", "way"),
    [
        ("Pod", "metadata.labels[team]", ("red",), True, "patch"),
        ("Pod", "metadata.annotations[a/b]", (), True, "patch"),
        ("Pod", CPU, ("1",), True, "resize"),
        ("Pod", "containers[name=app].resources.limits.memory", ("1Gi",), True, "resize"),
        ("Pod", CPU, (), True, "new pod"),
        ("Pod", "containers[name=app].resources.limits.ephemeral-storage", ("1",), True, "new pod"),
        ("Pod", "containers[name=app].resources", ({},), True, "new pod"),
        ("Pod", "containers[name=app].image", ("app:1",), True, "new pod"),
        ("Pod", "initContainers[name=app].resources.requests.cpu", ("1",), True, "new pod"),
        ("Pod", "volumes[name=nemutator]", (), True, "new pod"),
        ("Pod", "volumes[name=nemutator]", (), False, "patch"),
        ("Deployment", "volumes[name=nemutator]", (), True, "patch"),
        ("Deployment", CPU, (), True, "patch"),
    ],
)
def test_each_field_goes_the_way_that_kubernetes_allows(
    kind: str, path: str, wanted: Maybe, running: bool, way: Way
) -> None:
    assert way_of(kind, parse_path(path), wanted, running=running) == way
