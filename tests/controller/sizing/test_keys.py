import pytest
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.sizing.keys import ByPath, ContainerKey, is_of, replica_number


def series(path: str, container_id: str | None = None, program: str | None = None) -> Series:
    return Series(path, None, container_id, program)


@pytest.mark.parametrize(
    ("path", "container_id", "key"),
    [
        (
            "/system.slice/ssh.service",
            None,
            ContainerKey("system.slice", "unit", "ssh.service", "-"),
        ),
        ("/docker/" + "a" * 64, "a" * 64, ContainerKey("docker", "container", "a" * 12, "-")),
        ("/jobs/nightly", None, ContainerKey("jobs", "group", "nightly", "-")),
        ("/init.scope", None, ContainerKey("init.scope", "unit", "init.scope", "-")),
        (
            "/user.slice/user-1000.slice/user@1000.service/app.slice/shop.service",
            None,
            ContainerKey("user.slice", "unit", "shop.service", "-"),
        ),
        # What a service names like another one below its own group is not that one.
        (
            "/system.slice/evil.service/system.slice/ssh.service",
            None,
            ContainerKey("system.slice", "group", "ssh.service", "-"),
        ),
        ("/", None, None),
    ],
)
def test_off_clusters_a_path_says_whose_use_it_is(
    path: str, container_id: str | None, key: ContainerKey | None
) -> None:
    assert ByPath().of("n1", series(path, container_id)) == key


@pytest.mark.parametrize(
    ("path", "program", "key"),
    [
        ("/vm/ssh.service", "shop", ContainerKey("vm", "program", "shop", "-")),
        ("/", "shop", ContainerKey("/", "program", "shop", "-")),
        ("/vm", "", ContainerKey("vm", "program", "-", "-")),
    ],
)
def test_where_no_group_counts_a_program_is_the_owner(
    path: str, program: str, key: ContainerKey
) -> None:
    assert ByPath().of("n1", series(path, program=program)) == key


def test_replicas_are_pods_and_elsewhere_groups_on_their_machines() -> None:
    def number(node: str, path: str, *, pod_uid: str | None = None) -> int:
        return replica_number(node, Series(path, pod_uid, None, None))

    assert number("n1", "/s/a") != number("n2", "/s/a")
    assert number("n1", "/s/a") != number("n1", "/t/a")
    # A container that starts again has another path.
    assert number("n1", "/s/a", pod_uid="u") == number("n1", "/s/b", pod_uid="u")
    assert number("n1", "/s/\udcff") > 0


@pytest.mark.parametrize(
    ("workload", "found"),
    [
        (None, True),
        ("web", True),
        ("Deployment/web", True),
        ("deployment/web", True),
        ("Deployment/Web", False),
        ("Job/web", False),
        ("/web", False),
        ("Deployment/", False),
        ("Web", False),
    ],
)
def test_a_kind_is_written_as_kubectl_takes_it(workload: str | None, found: bool) -> None:
    assert is_of(workload, "Deployment", "web") is found
