import pytest
from nemutator_common.wire import Summary
from nemutator_controller.sizing.keys import ByPath, ContainerKey


def summary(path: str, container_id: str | None = None, program: str | None = None) -> Summary:
    return Summary(
        path=path,
        pod_uid=None,
        container_id=container_id,
        program=program,
        from_at=0.0,
        to_at=15.0,
        cpu_cores=0.0,
        memory_bytes=0,
    )


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
        ("/", None, None),
    ],
)
def test_off_clusters_a_path_says_whose_use_it_is(
    path: str, container_id: str | None, key: ContainerKey | None
) -> None:
    assert ByPath().of("n1", summary(path, container_id)) == key


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
    assert ByPath().of("n1", summary(path, program=program)) == key
