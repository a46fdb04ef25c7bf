from typing import Any

from nemutator_ctl.installation.socket_pods import (
    MOST_SHOWN,
    Restartable,
    commands,
    owners,
    with_socket,
)

from tests.fakes.installations import pod_with_socket


def test_pods_that_have_ended_or_never_had_a_socket_do_not_count() -> None:
    has = pod_with_socket("shop", "web-1")
    ended = pod_with_socket("shop", "job-1") | {"status": {"phase": "Succeeded"}}
    other: dict[str, Any] = {"metadata": {}, "spec": {"volumes": [{"csi": {"driver": "x"}}]}}
    plain: dict[str, Any] = {"metadata": {}, "spec": {}}
    assert with_socket([has, ended, other, plain]) == [has]


def test_what_makes_them_anew_is_named_once() -> None:
    pods = [
        pod_with_socket("shop", "web-5f6-a", "web-5f6"),
        pod_with_socket("shop", "web-5f6-b", "web-5f6"),
        pod_with_socket("shop", "db-0", "db", kind="StatefulSet"),
        pod_with_socket("shop", "nightly-x", "nightly", kind="Job"),
        pod_with_socket("shop", "alone"),
    ]
    assert owners(pods)[Restartable("shop", "Deployment", "web")] == 2
    assert commands(pods) == [
        "kubectl -n shop rollout restart deployment/web",
        "kubectl -n shop delete job/nightly",
        "kubectl -n shop delete pod/alone",
        "kubectl -n shop rollout restart statefulset/db",
    ]


def test_of_many_only_some_are_named() -> None:
    many = [pod_with_socket("shop", f"p{number}") for number in range(MOST_SHOWN + 3)]
    said = commands(many)
    assert (len(said), said[-1]) == (MOST_SHOWN + 1, "and 3 more")
