import math

from nemutator_controller.sizing.outcomes import Outcome
from nemutator_controller.sizing.recordings import Recording
from nemutator_ctl.replay.view import document, view


def test_what_is_not_known_is_a_dash_and_null() -> None:
    none = Outcome("krr", 95.0, math.nan, 0.0, 0.0, math.nan, 1.0)
    some = Outcome("vpa", 0.9, 1.234, 0.056, 1.25, 3.0, 0.0)
    shown = document("cpu", Recording((), {}), [none, some], [None, some], missed=0.01)
    assert shown["items"][0]["own"]["cost"] is None
    assert shown["items"][0]["compared"] is None
    lines = view(shown).splitlines()
    assert lines[1].split("   ")[-1].strip() == "REQUESTED/USED AT 1%"
    assert lines[2].split() == ["krr", "-", "0.00%", "0.0", "-", "100%", "never"]
    assert lines[3].split() == ["vpa", "1.23", "5.60%", "1.2", "3.0", "0%", "1.23"]
