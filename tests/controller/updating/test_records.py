from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.updating.records import GivenAmount, ResizeInPlace

from tests.fakes.sized_pods import pod_document, pod_of


def amount(before: str, after: str) -> GivenAmount:
    return GivenAmount(
        container="app",
        side="requests",
        resource="cpu",
        before=parse_quantity(before),
        after=parse_quantity(after),
        reason="",
    )


def test_a_change_names_its_field_as_the_journal_does() -> None:
    assert amount("1", "2").path == "containers[name=app].resources.requests.cpu"
    assert str(pod_of(pod_document())) == "shop/web-1"


def test_a_resize_that_raises_anything_comes_first() -> None:
    assert ResizeInPlace((amount("2", "1"), amount("1", "2"))).raises
    assert not ResizeInPlace((amount("2", "1"),)).raises
