"""The texts are those of a node with kubelet 1.36 and containerd."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.signals.process_texts import container_of, handles

UID = "8b0a6f3e-55cb-4b1e-9d0c-3d6f7b1f2a10"
HUP, USR1, WINCH = 1, 10, 28


def status(*, caught: int = 0, blocked: int = 0, threads: int = 1, name: str = "app") -> bytes:
    return (
        f"Name:\t{name}\nUmask:\t0022\nState:\tS (sleeping)\nThreads:\t{threads}\nSigQ:\t0/31\n"
        f"SigPnd:\t{0:016x}\nShdPnd:\t{0:016x}\nSigBlk:\t{blocked:016x}\nSigIgn:\t{0:016x}\n"
        f"SigCgt:\t{caught:016x}\n"
    ).encode()


def bit(number: int) -> int:
    return 1 << (number - 1)


def test_what_has_a_handler_is_caught() -> None:
    catches = status(caught=bit(HUP) | bit(WINCH), threads=9)
    assert handles(catches, HUP)
    assert handles(catches, WINCH)
    assert not handles(catches, USR1)


def test_a_small_init_program_waits_for_what_it_blocks() -> None:
    assert handles(status(blocked=bit(HUP)), HUP)
    # Another thread may not block it, and the signal would end all of them.
    assert not handles(status(blocked=bit(HUP), threads=2), HUP)


@pytest.mark.parametrize("text", [b"", b"SigCgt:\t", b"SigCgt:\tzz\n", status(name="SigCgt:\\t1")])
def test_what_cannot_be_understood_catches_nothing(text: bytes) -> None:
    assert not handles(text, HUP)


MOUNTS = f"""\
523 518 0:22 / /sys ro,nosuid - sysfs sysfs ro
524 514 8:1 /var/lib/kubelet/pods/{UID}/etc-hosts /etc/hosts rw - ext4 /dev/sda1 rw
525 515 8:1 /var/lib/kubelet/pods/{UID}/containers/web/1f0c2a4b /dev/termination-log rw - ext4 /d rw
526 514 0:45 / /run/nemutator ro - tmpfs nemutator rw
"""


def test_a_container_is_known_by_the_file_of_its_last_words() -> None:
    assert container_of(MOUNTS.encode(), UID) == "web"
    own_disk = MOUNTS.replace("/var/lib/kubelet", "")
    assert container_of(own_disk.encode(), UID) == "web"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b c",
        MOUNTS.replace("/containers/", "/volumes/"),
        MOUNTS.replace(UID, UID.replace("8", "9")),
        # The mount point is the container's own choice.
        f"525 515 8:1 /x /pods/{UID}/containers/web/1f0c2a4b rw - ext4 /dev/sda1 rw",
        f"525 515 8:1 /pods/{UID}/containers/web/1f0c2a4b/deeper / rw - ext4 /dev/sda1 rw",
    ],
)
def test_nothing_else_names_one(text: str) -> None:
    assert container_of(text.encode(), UID) is None


@given(
    st.binary(max_size=300)
    | st.text(" \n/0123456789abcdefpods-containers\\", max_size=300).map(str.encode)
)
def test_no_text_is_too_strange(text: bytes) -> None:
    handles(text, HUP)
    assert container_of(text, UID) is None
