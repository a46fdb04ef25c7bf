from nemutator_common.profiles import folded
from nemutator_controller.ageing.stacks import in_use

from tests.fakes.ageing import FRAMES, kept_windows, window_source


def test_stacks_of_all_processes_are_one() -> None:
    history = {
        window_source(1): kept_windows(3, grows_by=5),
        window_source(2): kept_windows(3, grows_by=5),
    }
    assert folded.render(in_use(history, FRAMES)).splitlines() == [
        "main.cache 40000000",
        "main.main;main.remember;runtime.makeslice 22000000",
    ]
    first = folded.render(in_use(history, {}, first=True)).splitlines()
    assert first == ["[no_name] 42000000"]
