"""What a request asks of the cluster is noted, and bounds are asked for once."""

from nemutator_controller.admission.request_lookups import AskedBounds, Lookups
from nemutator_controller.mutations.resource_bounds import ResourceBounds

from tests.fakes.admission import MemoryWorld


def test_a_lookup_is_noted() -> None:
    world = MemoryWorld()
    world.handlers = {"kata": "runc"}
    lookups = Lookups(world)
    assert not lookups.any
    assert lookups.runtime_handler("kata") == "runc"
    assert lookups.any
    lookups = Lookups(world)
    assert lookups.digest("docker.io/library/nginx:1") == world.digests.digest("nginx")
    assert lookups.any


def test_bounds_stay_the_same_for_one_request() -> None:
    world = MemoryWorld()
    asked = AskedBounds(world, "default")
    first = asked()
    world.bounds = ResourceBounds()
    assert asked() is first is not world.bounds
