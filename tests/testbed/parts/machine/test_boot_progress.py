import pytest

from tests.testbed.parts.machine.boot_progress import BootProgress


def test_one_that_goes_on_saying_something_is_slow() -> None:
    progress = BootProgress()
    for number in range(20):
        assert not progress.hangs(said=number, cpu_s=200.0 * number, now=800.0 * number)


@pytest.mark.parametrize(
    ("cpu_s", "now", "hangs"),
    [(299, 500, False), (301, 500, True), (3, 899, False), (3, 901, True)],
)
def test_one_that_computes_or_waits_long_without_a_word_hangs(
    cpu_s: float, now: float, hangs: bool
) -> None:
    progress = BootProgress()
    assert not progress.hangs(said=100, cpu_s=0, now=0)
    assert progress.hangs(said=100, cpu_s=cpu_s, now=now) is hangs
