import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.malformed import MalformedError
from nemutator_agent.usage.network_files import (
    InterfaceCounters,
    interface_rates,
    leading_out,
    parse_interfaces,
)
from nemutator_common.wire_activity import NetworkRates

HEAD = b"""Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop ...
"""
POD = (
    HEAD
    + b"    lo:  500       5    0    0    0     0          0         0      500       5 0 0 0 0 0 0\n"
    + b"  eth0: 1000      10    1    2    0     0          0         0     2000      20 3 4 0 0 0 0\n"
    + b"docker0: 900       9    0    0    0     0          0         0      900       9 0 0 0 0 0 0\n"
)
ETH0 = InterfaceCounters(1000, 2000, 10, 20, 6, 4)


def test_each_interface_has_its_counters() -> None:
    found = parse_interfaces(POD)
    assert list(found) == [b"lo", b"eth0", b"docker0"]
    assert found[b"eth0"] == ETH0


def test_what_a_pod_passes_on_inside_is_not_counted_again() -> None:
    assert leading_out(parse_interfaces(POD)) == ETH0
    without = POD.replace(b"  eth0:", b" wlan0:")
    assert leading_out(parse_interfaces(without)).received_bytes == 1900
    assert leading_out(parse_interfaces(HEAD)) == InterfaceCounters()


def test_an_interface_may_have_any_name() -> None:
    found = parse_interfaces(POD.replace(b"docker0:", b"\x1b[2J\xff:a:"))
    assert list(found) == [b"lo", b"eth0", b"\x1b[2J\xff:a"]


def test_a_file_that_was_cut_is_read_up_to_its_last_whole_line() -> None:
    assert list(parse_interfaces(POD[:-30])) == [b"lo", b"eth0"]


def test_a_counter_that_went_back_is_not_known() -> None:
    before, after = ETH0, InterfaceCounters(999, 3000, 10, 30, 7, 4)
    assert interface_rates(before, after, 10.0) == NetworkRates(
        received=None, sent=100.0, packets_received=0.0, packets_sent=1.0, drops=0.1, errors=0.0
    )
    for missing in (interface_rates(None, after, 10.0), interface_rates(before, after, 0.0)):
        assert missing == NetworkRates()


@pytest.mark.parametrize("line", [b"eth0 1 2\n", b"eth0: 1 2 3\n", b"eth0:" + b" x" * 16 + b"\n"])
def test_another_form_is_malformed(line: bytes) -> None:
    with pytest.raises(MalformedError):
        parse_interfaces(HEAD + line)


@given(st.binary(max_size=400))
def test_any_bytes_are_interfaces_or_malformed(content: bytes) -> None:
    with contextlib.suppress(MalformedError):
        leading_out(parse_interfaces(HEAD + content))
