import json

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.seasons.view import decode, overview


def document(**changed: object) -> object:
    web = {
        "namespace": "shop",
        "kind": "Deployment",
        "name": "web",
        "season": "peak",
        "since": 5.0,
        "seasonal": True,
        "reason": "held-out days were foretold 70% better than by a median",
        "skill": 0.7,
        "spans": [{"season": "peak", "begin": "09:00", "end": "17:00"}],
    }
    switch = {
        "kind": "SeasonPolicy",
        "name": "busy",
        "in_force": True,
        "since": 5.0,
        "why": "the season of the cluster is peak",
        "decision": "d1",
        "held": False,
    }
    return json.loads(
        json.dumps(
            {
                "calendar": {"day_s": 120.0, "slot_s": 15.0, "zone": "UTC", "compressed": True},
                "cluster": web | {"namespace": "", "kind": "", "name": ""},
                "switches": [switch],
                "items": [web],
                "left_off": 3,
            }
            | changed
        )
    )


def test_policies_come_first_and_then_who_has_which_season() -> None:
    said = overview(decode(document()))

    assert said.startswith("A day here takes 120 s.")
    assert "SeasonPolicy/busy   yes" in said
    assert "all together" in said
    assert "Deployment/web" in said
    assert "peak from 09:00" in said
    assert said.endswith("3 more: name a namespace with -n.\n")


def test_nothing_yet_is_said() -> None:
    nothing = document(cluster=None, switches=[], items=[], left_off=0)
    assert "No use has been reported yet." in overview(decode(nothing))


def test_what_is_no_list_of_seasons_is_a_message() -> None:
    with pytest.raises(OperatorError):
        decode({"items": 3})
