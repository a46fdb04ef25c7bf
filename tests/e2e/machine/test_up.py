"""`nemutator up` on a machine with control groups of version 2, held against their files."""

import json
import shlex

import pytest
from nemutator_controller.units.drop_ins import drop_in
from nemutator_controller.units.unit_states import PROPERTIES, state_of

from tests.e2e.machine.commands import (
    QUOTA,
    USERS,
    YOURS,
    figure,
    groups,
    start_unit,
    start_up,
)
from tests.e2e.machine.csi_volume import group, in_pod
from tests.testbed.parts.machine.machine import Machine
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(1800)

WITHIN_S = 900.0

SHOPS_POD = "33333333-3333-4333-8333-333333333333"
STILL, BUSY, SHOP = (f"/store.slice/{name}.service" for name in ("still", "busy", "shop"))


def test_the_memory_of_a_unit_is_what_its_files_say(up: Machine) -> None:
    def files() -> int:
        read = up.sh(
            f"cd /sys/fs/cgroup{STILL}; cat memory.current; grep inactive_file memory.stat"
        )
        charged, _, inactive = read.split()
        return int(charged) - int(inactive)

    def agree() -> bool:
        before, rows, after = files(), groups(up), files()
        return before == after == figure(rows, STILL, "memory_bytes")

    until(agree, "the report is of the unit's memory as it stands", within_s=WITHIN_S)


def test_the_cpu_time_and_pressure_of_a_unit_are_seen(up: Machine) -> None:
    def seen() -> bool:
        rows = groups(up)
        # It is held back for most of the time, and waits for all of it.
        waits = figure(rows, BUSY, "pressures", "cpu", "some_60s")
        return 0 < figure(rows, BUSY, "cpu_cores") <= 2 * QUOTA and waits > 0

    until(seen, "a unit with a quota of CPU time uses it and waits", within_s=WITHIN_S)


def test_real_control_groups_become_advice(up: Machine) -> None:
    def advised() -> bool:
        items = json.loads(up.run("nemutator", "advise", YOURS, "-o", "json"))["items"]
        return any(
            one["owner"] == "busy.service"
            and one["state"] == "provisional"
            and one["requests"]["cpu"].endswith("m")
            for one in items
        )

    until(advised, "there is advice for the unit", within_s=WITHIN_S)


def test_systemd_takes_both_lines_of_a_drop_in_for_a_unit_that_runs(guest: Machine) -> None:
    start_unit(guest, "sized", "sleep", "infinity")
    content = drop_in(weight=59, memory_high=412_000_000)
    guest.write("/etc/systemd/system/sized.service.d/50-nemutator.conf", content)
    shown = guest.sh(
        "chmod 755 /etc/systemd/system/sized.service.d; systemctl daemon-reload;"
        f" cd /sys/fs/cgroup/store.slice/sized.service; cat cpu.weight memory.high;"
        f" systemctl show --property={','.join(PROPERTIES)} -- sized.service;"
        " rm -r /etc/systemd/system/sized.service.d; systemctl daemon-reload"
    )
    weight, high, *properties = shown.splitlines()
    # The kernel keeps whole pages.
    assert (weight, int(high)) == ("59", 412_000_000 // 4096 * 4096)
    state = state_of("\n".join(properties))
    assert state is not None
    assert (state.name, state.namespace, state.is_transient) == (
        "sized.service",
        "store.slice",
        True,
    )
    assert (state.cpu_weight, state.memory_high, state.memory_max) == (59, 412_000_000, None)
    assert state.drop_ins[-1] == "/etc/systemd/system/sized.service.d/50-nemutator.conf"
    absent = f"systemctl show --property={','.join(PROPERTIES)} -- none.service"
    assert state_of(guest.sh(absent)) is None


@pytest.fixture(scope="module")
def shop(up: Machine) -> str:
    """The number of the sample's process; it is busy for a tenth of its time."""
    start_unit(up, "shop", "/opt/nemutator/shop")
    return up.run("systemctl", "show", "--property=MainPID", "--value", "shop").strip()


@pytest.fixture(scope="module")
def pod(up: Machine) -> str:
    """The control group of a pod, one of whose containers is the sample too."""
    start_unit(up, "pod", *in_pod(SHOPS_POD, "e", "/opt/nemutator/shop"))
    container = group(SHOPS_POD, "e")
    up.sh(f"until grep -q . {container}/cgroup.procs; do sleep 1; done", within_s=WITHIN_S)
    return f"/{container.parent.relative_to('/sys/fs/cgroup')}"


@pytest.mark.parametrize("target", ["process", "unit", "slice", "pod"])
def test_a_go_program_is_profiled_with_its_inlined_functions(
    up: Machine, shop: str, pod: str, target: str
) -> None:
    where = {
        "process": f"pid:{shop}",
        "unit": f"cgroup:{SHOP}",
        "slice": "cgroup:/store.slice",
        "pod": f"cgroup:{pod}",
    }
    profile = ["nemutator", "profile", where[target], YOURS, "--seconds=10"]
    folded = up.sh(
        f"{shlex.join([*profile, '--output=/tmp/it.folded'])} >&2; cat /tmp/it.folded",
        within_s=WITHIN_S,
    )
    assert "main.main;main.serveVisitors;" in folded
    assert "_[i]" in folded


def test_an_ordinary_user_sees_the_same_units(up: Machine) -> None:
    # Nobody after this test asks for it, and an emulated CPU has no time to spare.
    up.run("systemctl", "stop", "up")
    options = ("--uid=nobody", "--property=RuntimeDirectory=nemutator-user")
    words = (USERS, "--privileges=never", "--console=127.0.0.1:8421")
    start_up(up, "up-user", *words, options=options)
    assert "privileges=never" in up.run("journalctl", "--unit=up-user", "--output=cat")

    def seen() -> bool:
        rows = groups(up, USERS)
        return figure(rows, BUSY, "cpu_cores") > 0 and figure(rows, STILL, "memory_bytes") > 0

    until(seen, "an ordinary user is shown what units use", within_s=WITHIN_S)
    up.run("systemctl", "stop", "up-user")
