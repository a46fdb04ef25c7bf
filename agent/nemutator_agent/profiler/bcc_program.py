"""Compiles and loads one program with bcc, and hands its files over: run by the distribution's Python.

bcc belongs to that Python and brings LLVM with it (170 MB): here both are gone when the program is
loaded, and a compiler that fails is not the agent. Nothing of the agent can be imported here.

Arguments: the program, its type, and its maps. The source comes by standard input, and by the same
socket the open files go back: the program first, then the maps in their order.
"""

import array
import importlib
import socket
import sys

_LONGEST_SOURCE = 1 << 20


def main(program: str, kind: str, *maps: str) -> None:
    agent = socket.socket(fileno=0)
    with agent.makefile("rb") as given:
        source = given.read(_LONGEST_SOURCE)
    bcc = importlib.import_module("bcc")
    compiled = bcc.BPF(text=source)
    loaded = compiled.load_func(program, getattr(bcc.BPF, kind))
    files = array.array("i", [loaded.fd, *(compiled[name].map_fd for name in maps)])
    agent.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])


if __name__ == "__main__":
    main(*sys.argv[1:])
