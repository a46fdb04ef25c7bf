import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.testbed.building import apt_answers
from tests.testbed.building.apt_answers import NAME, VERSION, Package

# As apt 2.6 said it on a machine with Docker's own containerd, where installing would remove that.
SIMULATION = """\
Reading package lists...
Building dependency tree...
The following packages will be REMOVED:
  containerd.io docker-ce
The following NEW packages will be installed:
  containerd iptables runc
1 upgraded, 3 newly installed, 2 to remove and 136 not upgraded.
Remv docker-ce [5:24.0.7-1~debian.12~bookworm]
Remv containerd.io [1.6.26-1]
Inst runc (1.1.5+ds1-1+deb12u1 Debian:12.15/oldstable, Debian-Security:12/oldstable-security [amd64])
Inst login [1:4.13+dfsg1-1+deb12u1] (1:4.13+dfsg1-1+deb12u2 Debian:12.15/oldstable [amd64])
Inst postgresql-common [248+deb12u1] (248+deb12u2 Debian-Security:12/oldstable-security [all]) []
Inst libc6:i386 (2.36-9+deb12u9 Debian:12.15/oldstable [i386]) [libc6:amd64 on libc6:i386]
Inst containerd (1.6.20~ds1-1+deb12u3 Debian:12.15/oldstable [amd64])
Conf runc (1.1.5+ds1-1+deb12u1 Debian:12.15/oldstable [amd64])
Conf containerd (1.6.20~ds1-1+deb12u3 Debian:12.15/oldstable [amd64])
"""

DEPENDS = """\
postgresql
  Depends: postgresql-15
  Suggests: postgresql-doc
"""

TARGETS = """\
mirror+file:/etc/apt/mirrors bookworm bookworm main
http://user:word@archive.example/debian/ bookworm bookworm main
http://archive.example/debian/ bookworm bookworm contrib
http://archive.example/security/ bookworm-security bookworm-security main
http://archive.example/debian/ bookworm-updates bookworm-updates main
http://archive.example/debian/ bookworm bookworm main
http://second.example/debian/ bookworm bookworm main
"""


def test_a_plan_is_what_would_be_unpacked_in_its_order() -> None:
    assert apt_answers.planned(SIMULATION) == (
        Package("runc", "1.1.5+ds1-1+deb12u1"),
        Package("login", "1:4.13+dfsg1-1+deb12u2"),
        Package("postgresql-common", "248+deb12u2"),
        Package("libc6:i386", "2.36-9+deb12u9"),
        Package("containerd", "1.6.20~ds1-1+deb12u3"),
    )


def test_what_would_be_removed_is_in_no_plan() -> None:
    assert not any("docker" in str(package) for package in apt_answers.planned(SIMULATION))
    assert apt_answers.planned("Remv runc [1.1.5]\n") == ()


@pytest.mark.parametrize(
    "line",
    [
        "Inst --option (1.0 Debian [amd64])",
        "Inst name (--option=1 Debian [amd64])",
        "Inst ../../etc (1.0 Debian [amd64])",
        "Inst name (1.0/../x Debian [amd64])",
        "Inst name (1.0;reboot Debian [amd64])",
        "Inst name (1.0",
        "Inst name",
        "Inst ",
        " Inst name (1.0 Debian [amd64])",
        "Inst Name (1.0 Debian [amd64])",
    ],
)
def test_a_line_that_names_no_package_gives_none(line: str) -> None:
    assert apt_answers.planned(line) == ()


@given(st.text())
def test_no_answer_becomes_an_option_or_a_path(said: str) -> None:
    for package in apt_answers.planned(f"Inst {said}\n{said}"):
        assert NAME.fullmatch(package.name)
        assert VERSION.fullmatch(package.version)
        assert not str(package).startswith("-")
        assert "/" not in str(package)


@given(
    st.lists(
        st.builds(
            Package,
            st.text("az09+.-", min_size=1).map("a{}".format),
            st.text("AZaz09.+:~-").map("1{}".format),
        )
    ),
    st.booleans(),
)
def test_every_planned_package_is_found(packages: list[Package], upgrade: bool) -> None:
    installed = "[0.9~old] " if upgrade else ""
    said = "\n".join(f"Inst {p.name} {installed}({p.version} Debian:12 [amd64])" for p in packages)
    assert apt_answers.planned(said) == tuple(packages)


def test_what_a_plan_lacks_is_named() -> None:
    plan = apt_answers.planned(SIMULATION)
    assert apt_answers.lacking(plan, ["containerd", "libc6"]) == ()
    assert apt_answers.lacking(plan, ["redis-server", "runc"]) == ("redis-server",)


def test_the_version_in_a_name_is_the_one_that_the_distribution_depends_on() -> None:
    assert apt_answers.recommended_version(DEPENDS, "postgresql-*") == "15"


@pytest.mark.parametrize("said", ["", "postgresql\n", "postgresql\n  Suggests: postgresql-15\n"])
def test_a_version_that_nothing_depends_on_is_not_guessed(said: str) -> None:
    with pytest.raises(LookupError, match=r"no version of postgresql-\*"):
        apt_answers.recommended_version(said, "postgresql-*")


def test_the_mirror_is_the_machines_own_of_the_release_itself() -> None:
    assert apt_answers.mirror(TARGETS, "bookworm") == "http://archive.example/debian/"


@pytest.mark.parametrize(
    "targets", ["", "\n", *(TARGETS.splitlines()[:5]), "http://a/ bookworm main"]
)
def test_an_archive_that_will_not_do_is_no_mirror(targets: str) -> None:
    with pytest.raises(LookupError, match="bookworm"):
        apt_answers.mirror(targets, "bookworm")


def test_a_package_that_holds_nothing_stands_for_what_it_needs_first() -> None:
    assert apt_answers.first_dependency(DEPENDS, "postgresql") == "postgresql-15"


def test_a_package_without_dependencies_stands_for_nothing() -> None:
    with pytest.raises(LookupError, match="linux-image-cloud-amd64"):
        apt_answers.first_dependency("linux-image-cloud-amd64\n", "linux-image-cloud-amd64")
