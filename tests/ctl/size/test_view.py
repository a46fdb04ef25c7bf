import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.size.view import decode, view

PLANNED = {
    "unit": "shop.service",
    "outcome": "planned",
    "id": "",
    "file": "/etc/systemd/system/shop.service.d/50-nemutator.conf",
    "before": "[Service]\nCPUWeight=7\n",
    "content": "# ours\n[Service]\nCPUWeight=59\n",
    "values": [{"setting": "CPUWeight", "now": "7", "wanted": "59", "reason": "500m advised"}],
    "warnings": ["it is a transient unit"],
}


def test_the_plan_shows_the_file_as_it_is_and_as_it_would_be() -> None:
    assert view(decode(PLANNED)).splitlines() == [
        "shop.service planned: /etc/systemd/system/shop.service.d/50-nemutator.conf",
        "  CPUWeight  7 → 59  (500m advised)",
        "  warning: it is a transient unit",
        "  - [Service]",
        "  - CPUWeight=7",
        "  + # ours",
        "  + [Service]",
        "  + CPUWeight=59",
    ]


def test_what_is_done_names_its_mutation_and_what_is_there_already_says_so() -> None:
    done = decode({**PLANNED, "outcome": "changed", "id": "m1"})
    assert view(done).splitlines()[0].endswith("50-nemutator.conf  (mutation m1)")
    unread = decode({**PLANNED, "before": PLANNED["content"]})
    assert not unread.is_done
    has = [{"setting": "CPUWeight", "now": "59", "wanted": "59", "reason": "500m advised"}]
    same = decode({**PLANNED, "before": PLANNED["content"], "values": has})
    assert same.is_done
    assert view(same).splitlines()[0].startswith("shop.service has it already: ")
    assert not any(line.startswith("  + ") for line in view(same).splitlines())


def test_a_strangers_text_moves_no_cursor() -> None:
    hostile = decode({**PLANNED, "before": "\x1b[2J\r\n"})
    assert "\x1b" not in view(hostile)


def test_another_answer_is_not_understood() -> None:
    with pytest.raises(OperatorError):
        decode({"unit": "shop.service"})
