"""Ports that can be had are really free."""

import socket

from tests.testbed.running.ports import LOOPBACK, free_port


def test_a_free_port_can_be_listened_on() -> None:
    with socket.create_server((LOOPBACK, free_port())):
        pass


def test_the_next_one_is_free_too() -> None:
    port = free_port(with_next=True)
    with socket.create_server((LOOPBACK, port)), socket.create_server((LOOPBACK, port + 1)):
        pass
