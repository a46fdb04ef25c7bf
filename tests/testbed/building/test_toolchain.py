import pytest

from tests.testbed.building import made, toolchain
from tests.testbed.building.made import TOOLCHAIN_LOCK
from tests.testbed.building.toolchain import Version


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("go version go1.26.8 linux/amd64", (1, 26, 8)),
        ("go version go1.9 linux/amd64", (1, 9, 0)),
        ("go version go1.26.0-X:nodwarf5 linux/amd64", (1, 26, 0)),
        ("go version go1.27rc1 linux/amd64", None),
        ("go version devel go1.28-abcdef Mon Jan 1 linux/amd64", None),
        ("go: cannot find GOROOT directory", None),
        ("", None),
    ],
)
def test_a_release_is_told_from_what_is_none(said: str, expected: Version | None) -> None:
    assert toolchain.version_of(said) == expected


@pytest.mark.parametrize(
    ("go_mod", "expected"),
    [
        ("module m\n\ngo 1.26.0\n\ngodebug default=go1.26\n", (1, 26, 0)),
        ("module m\n\ngo 1.25\n", (1, 25, 0)),
    ],
)
def test_a_module_says_which_go_it_needs(go_mod: str, expected: Version) -> None:
    assert toolchain.needed_version(go_mod) == expected


def test_a_module_that_does_not_say_is_refused() -> None:
    with pytest.raises(ValueError, match="no line"):
        toolchain.needed_version("module m\n// go 1.26.0 is needed\n")


def test_versions_are_compared_by_their_numbers() -> None:
    nine, ten = "go version go1.9.10 x", "go version go1.10.9 x"
    first, second = toolchain.version_of(nine), toolchain.version_of(ten)
    assert first is not None
    assert second is not None
    assert first < second


@pytest.mark.parametrize(
    "part", ["kube", "vault", "vault-client", "bao-client", "go-kinds", "versitygw"]
)
def test_the_go_that_we_install_is_new_enough_for_each_program(part: str) -> None:
    (pinned,) = [line for line in TOOLCHAIN_LOCK.read_text().splitlines() if "==" in line]
    version = pinned.removesuffix(" \\").partition("==")[2]
    own = toolchain.version_of(f"go version go{version} linux/amd64")
    assert own is not None
    go_mod = (made.PROGRAMS / part / "go.mod").read_text()
    assert own >= toolchain.needed_version(go_mod)
