import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.units.unit_states import UnitState, state_of

SHOWN = """Id=shop.service
LoadState=loaded
Transient=no
Slice=system.slice
ControlGroup=/system.slice/shop.service
CPUWeight=[not set]
MemoryHigh=infinity
MemoryMax=1073741824
DropInPaths=/etc/systemd/system/shop.service.d/10-a.conf /etc/systemd/system/shop.service.d/50-nemutator.conf
"""


def test_what_systemctl_shows_is_read() -> None:
    assert state_of(SHOWN) == UnitState(
        name="shop.service",
        namespace="system.slice",
        is_transient=False,
        cpu_weight=None,
        memory_high=None,
        memory_max=1 << 30,
        drop_ins=(
            "/etc/systemd/system/shop.service.d/10-a.conf",
            "/etc/systemd/system/shop.service.d/50-nemutator.conf",
        ),
    )


def test_a_unit_that_runs_only_while_nobody_else_wants_the_cpu_is_known() -> None:
    found = state_of(SHOWN.replace("CPUWeight=[not set]", "CPUWeight=idle"))
    assert found is not None
    assert (found.is_idle, found.cpu_weight) == (True, None)
    usual = state_of(SHOWN)
    assert usual is not None
    assert not usual.is_idle


@pytest.mark.parametrize("load", ["not-found", "masked", "error", "stub", ""])
def test_a_unit_that_cannot_run_is_none(load: str) -> None:
    assert state_of(SHOWN.replace("LoadState=loaded", f"LoadState={load}")) is None


@pytest.mark.parametrize(
    ("slice_", "namespace"),
    [
        ("system.slice", "system.slice"),
        ("system-getty.slice", "system.slice"),
        ("-.slice", "shop.service"),
        ("", "shop.service"),
    ],
)
def test_a_unit_that_does_not_run_lies_where_its_slice_will(slice_: str, namespace: str) -> None:
    text = SHOWN.replace("Slice=system.slice", f"Slice={slice_}")
    found = state_of(text.replace("ControlGroup=/system.slice/shop.service", "ControlGroup="))
    assert found is not None
    assert found.namespace == namespace


@pytest.mark.parametrize("number", ["18446744073709551615", "-1", "1e3", "9" * 400, "٣", ""])
def test_what_is_no_amount_counts_as_not_set(number: str) -> None:
    found = state_of(SHOWN.replace("CPUWeight=[not set]", f"CPUWeight={number}"))
    assert found is not None
    assert found.cpu_weight is None


@given(st.text(max_size=200))
def test_whatever_is_said_is_a_state_or_none(text: str) -> None:
    found = state_of(text)
    assert found is None or found.name
