from pathlib import Path

from tests.testbed.building import go_programs

SCRATCH = Path("/cache/.making-kube-x")

# As `go build -v` says it, with what else may stand between.
LOG = """\
internal/goarch
golang.org/x/text/internal/tag
go: downloading k8s.io/api v0.36.3
k8s.io/kubernetes/pkg/kubelet

# nemutator.io/testbed/kube
warning: something about the linker
nemutator.io/testbed/kube
"""


def environment(**inherited: str) -> dict[str, str]:
    return go_programs.go_environment(inherited, scratch=SCRATCH, architecture="amd64")


def test_the_users_way_to_the_modules_is_kept() -> None:
    given = {"GOPROXY": "file:///proxy", "HTTPS_PROXY": "http://proxy:3128", "GONOSUMDB": "*"}
    assert given.items() <= environment(**given).items()


def test_what_would_make_another_binary_is_not() -> None:
    built = environment(GOROOT="/old", GOAMD64="v4", GOFLAGS="-race", CGO_ENABLED="1", GOOS="plan9")
    assert "GOROOT" not in built
    assert "GOAMD64" not in built
    assert built["CGO_ENABLED"] == "0"
    assert built["GOOS"] == "linux"
    assert "-race" not in built["GOFLAGS"]


def test_go_writes_nowhere_but_into_the_folder_that_is_removed() -> None:
    built = environment(
        GOCACHE="/elsewhere/objects", GOMODCACHE="/elsewhere/modules", GOTMPDIR="/tmp"
    )
    for name in ("GOCACHE", "GOMODCACHE", "GOTMPDIR"):
        assert Path(built[name]).parent == SCRATCH
    # Without it the modules are read-only, and removing them fails.
    assert "-modcacherw" in built["GOFLAGS"]


def test_an_empty_setting_would_let_the_users_file_of_settings_through() -> None:
    assert environment()["GOFLAGS"] != ""


def test_packages_are_counted_and_other_words_are_not() -> None:
    assert go_programs.count_packages(LOG) == 4
    assert go_programs.count_packages("") == 0
