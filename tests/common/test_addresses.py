import ipaddress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.addresses import TcpAddress, UnixAddress, parse_address

ports = st.integers(0, 65535)
hosts = st.ip_addresses().filter(lambda ip: getattr(ip, "scope_id", None) is None)
addresses = st.builds(TcpAddress, hosts.map(str), ports) | st.builds(
    UnixAddress, st.text(st.characters(exclude_characters="\0")).map(lambda text: Path("/" + text))
)


@given(addresses)
def test_what_an_address_prints_is_read_as_the_same(address: TcpAddress | UnixAddress) -> None:
    assert parse_address(str(address)) == address


@given(st.text() | st.from_regex(r"\[?[0-9a-f.:%]{0,20}\]?:[0-9٣]{0,6}"))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    try:
        address = parse_address(text)
    except ValueError:
        return
    if isinstance(address, TcpAddress):
        ipaddress.ip_address(address.host)
        assert 0 <= address.port <= 65535
    else:
        assert address.path.is_absolute()


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":8420",
        "8420",
        "localhost:8420",
        "::1:8420",
        "[127.0.0.1]:80",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1: 80",
        "127.1:80",
        "010.0.0.1:80",
        "[fe80::1%eth0]:80",
        "unix:relative",
        "unix:",
        "unix:/nul\0",
        "unix:@abstract",
    ],
)
def test_what_could_be_misread_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected "):
        parse_address(text)
