import signal

import pytest
from nemutator_common.on_rotate import SIGNALS, ContainerSignal, PodRestart, parse_on_rotate


@pytest.mark.parametrize("name", SIGNALS)
def test_each_signal_is_read_back(name: str) -> None:
    wanted = ContainerSignal(name, "web-1")
    assert parse_on_rotate(str(wanted)) == wanted
    assert signal.Signals(wanted.number).name == f"SIG{name}"


def test_none_is_nothing() -> None:
    assert parse_on_rotate("none") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "None",
        "signal",
        "signal:HUP",
        "signal:HUP@",
        "signal:SIGHUP@web",
        "signal:hup@web",
        "signal:KILL@web",
        "signal:STOP@web",
        "signal:1@web",
        "signal:HUP@web,other",
        "signal:HUP@../web",
        "signal:HUP@Web",
        "signal:HUP@web\n",
        f"signal:HUP@{'x' * 64}",
        " signal:HUP@web",
    ],
)
def test_all_else_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected signal:HUP@container \(HUP, INT"):
        parse_on_rotate(text)


def test_a_restart_is_read_back() -> None:
    assert parse_on_rotate("restart") == PodRestart()
    assert str(PodRestart()) == "restart"
