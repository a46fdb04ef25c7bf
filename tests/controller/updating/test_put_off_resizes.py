from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.updating.evicting import DEFERRED_S
from nemutator_controller.updating.records import NotResizedError, PodSurroundings

from tests.controller.updating.test_resizing import Resizes, small
from tests.fakes.sized_pods import pod_document


async def test_what_kubelet_puts_off_is_waited_for_first() -> None:
    one = Resizes(small(), small("web-2"), mode="Evict", podsAtOnce=5)
    await one.engine.check()
    one.pods.states["u-web-1"] = "Deferred"
    await one.engine.check()
    assert len(one.pods.documents) == 2
    await one.clock.advance(DEFERRED_S)
    await one.engine.check()
    assert list(one.pods.documents) == ["u-web-2"]


async def test_who_is_put_off_does_not_wait_for_itself_to_be_evicted() -> None:
    one = Resizes(small(), small("web-2"), mode="Evict")
    await one.engine.check()
    one.pods.states["u-web-1"] = "Deferred"
    await one.engine.check()
    await one.clock.advance(3_600)
    await one.engine.check()
    assert list(one.pods.documents) == ["u-web-2"]


async def test_others_do_not_wait_for_ever_for_one_that_kubelet_puts_off() -> None:
    one = Resizes(small(), small("web-2"), mode="InPlace")
    await one.engine.check()
    one.pods.states["u-web-1"] = "Deferred"
    await one.engine.check()
    # It asks for what is advised, and has not got it.
    assert one.states() == ["waits", "waits"]
    assert one.why() == "kubelet has not made the last change yet: Deferred"
    await one.clock.advance(DEFERRED_S - 1)
    await one.engine.check()
    assert one.states() == ["waits", "waits"]
    await one.clock.advance(1)
    await one.engine.check()
    assert one.states() == ["waits", "given"]


async def test_who_may_not_be_evicted_takes_nobody_elses_turn() -> None:
    """One change in a look, and two pods that a budget keeps."""
    one = Resizes(small(), small("web-2"), mode="Evict", changesPerMinute=4)
    one.pods.surroundings = PodSurroundings(node={"cpu": parse_quantity("120m")})
    one.pods.budget = NotResizedError("a PodDisruptionBudget", again=True)

    async def tried() -> list[str]:
        await one.clock.advance(15)
        await one.engine.check()
        pods = one.engine.progress["p"].pods
        return [each.pod for each in pods if "a PodDisruptionBudget" in each.why]

    assert await tried() == ["web-1"]
    # Whom it was not the turn of stays for the same reason.
    assert await tried() == ["web-2", "web-1"]
    said = one.engine.progress["p"].summary()
    assert await tried() == ["web-1", "web-2"]
    assert one.engine.progress["p"].summary() == said
    # What can be given comes before what was refused.
    one.pods.documents["u-web-3"] = pod_document("web-3", requests={"memory": "300M"})
    one.pods.versions["u-web-3"] = 1
    await one.engine.check()
    assert one.pods.requests("web-3") == {"memory": "150M"}
