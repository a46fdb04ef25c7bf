from nemutator_common.secret import Secret
from nemutator_controller.kube.configuration import Access, Fixed


async def test_a_fixed_way_in_stays() -> None:
    access = Access(server="https://one:6443", token=Secret("t0ken"))
    assert await Fixed(access).access(renew=True) is access
    assert "t0ken" not in repr(access)
