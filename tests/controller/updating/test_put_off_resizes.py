from nemutator_controller.updating.evicting import DEFERRED_S

from tests.controller.updating.test_resizing import Resizes, small


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
