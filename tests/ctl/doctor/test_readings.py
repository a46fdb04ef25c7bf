import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.doctor import readings

from tests.ctl.doctor import machines


@given(st.text())
def test_no_text_breaks_a_reading(text: str) -> None:
    readings.number(text)
    readings.release(text)
    readings.capabilities(text)
    readings.in_initial_namespace(text)
    readings.chosen(text)
    readings.swap_areas(text)
    readings.mounts(text)


@given(st.integers(-999_999_999, 999_999_999))
def test_a_number_is_read_back(value: int) -> None:
    assert readings.number(f"{value}\n") == value


@pytest.mark.parametrize("text", ["", "1 2", "٣", "0x1", "9" * 5000, "1.5"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert readings.number(text) is None


@given(st.integers(0, (1 << 64) - 1))
def test_capabilities_are_read_back(bits: int) -> None:
    status = f"Name:\tx\nCapPrm:\tffff\nCapEff:\t{bits:016x}\nCapBnd:\t0\n"
    assert readings.capabilities(status) == bits


def test_only_the_whole_range_is_the_initial_user_namespace() -> None:
    assert readings.in_initial_namespace("         0          0 4294967295\n")
    assert not readings.in_initial_namespace("0 100000 65536\n")
    assert not readings.in_initial_namespace("0 0 4294967295\n1 1 1\n")


def test_a_release_needs_two_numbers() -> None:
    assert readings.release("4.18.0-553.el8") == (4, 18)
    assert readings.release("linux") is None


def test_the_word_in_brackets_is_chosen() -> None:
    assert readings.chosen("none [integrity] confidentiality") == "integrity"
    assert readings.chosen("none") is None


def test_swap_areas_are_counted_below_their_heading() -> None:
    assert readings.swap_areas("Filename\tType\n") == 0
    assert readings.swap_areas("Filename\tType\n/a file\n/b file\n") == 2
    assert readings.swap_areas("") is None


def test_mounts_tell_the_versions_of_control_groups() -> None:
    modern, legacy = readings.mounts(machines.V2_MOUNTS), readings.mounts(machines.V1_MOUNTS)
    assert modern
    assert modern.unified
    assert modern.proc
    assert not modern.legacy
    assert legacy
    assert not legacy.unified
    assert {"cpuacct", "memory"} <= legacy.legacy
    assert readings.mounts("") is None
