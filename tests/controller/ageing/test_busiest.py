from nemutator_controller.ageing.busiest import MOST_FUNCTIONS, busiest
from nemutator_controller.ageing.model import KeptWindow

from tests.fakes.ageing import window_source


def window(at: float, **functions: int) -> KeptWindow:
    return KeptWindow(at=at, samples=100, functions=functions)


def test_windows_of_all_processes_and_times_are_one() -> None:
    heap = KeptWindow(at=50.0)
    history = {
        window_source(1): [window(0, parse=90), window(40, parse=20, log=5), heap],
        window_source(2): [window(45, parse=30, send=60)],
    }
    found = busiest(history, since=40)
    assert (found.samples, found.windows) == (200, 2)
    assert found.functions == (("send", 60), ("parse", 50), ("log", 5))
    assert busiest(history, since=60).functions == ()


def test_only_the_first_are_named() -> None:
    many = {f"f{number:03}": number for number in range(100)}
    found = busiest({window_source(): [window(1, **many)]}, since=0)
    assert len(found.functions) == MOST_FUNCTIONS
    assert found.functions[0] == ("f099", 99)
