import logging
from dataclasses import replace

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nemutator_agent.credentials.audit import (
    MOST_DIGESTS,
    MOST_KEPT,
    Audit,
    AuditSubject,
    subject_of,
)
from nemutator_common import names
from nemutator_common.secret import Secret
from nemutator_controller.grants.records import grants_of

from tests.fakes.clocks import ManualClock
from tests.fakes.peers import POD, RecordedGrants


def audit(key: str = "k") -> tuple[Audit, RecordedGrants, ManualClock]:
    grants, clock = RecordedGrants(), ManualClock()
    return (
        Audit(grants, node="n1", key=Secret(key), clock=clock),
        grants,
        clock,
    )


def test_a_record_says_who_had_what_and_when_it_ends() -> None:
    made, grants, clock = audit()
    made.record(subject_of(POD), "login", "granted", role="shop.api", lasts_s=60)
    (grant,) = grants.all
    assert (grant.namespace, grant.pod, grant.pod_uid) == ("shop", "api-1", "u-1")
    assert (grant.service_account, grant.node, grant.at) == ("api", "n1", clock.now())
    assert grant.expires_at == clock.now() + 60


def test_equal_paths_are_seen_to_be_equal_and_no_more() -> None:
    made, grants, _ = audit()
    for path in ("secret/a", "secret/a", "secret/b"):
        made.record(subject_of(POD), "read", "granted", path=path)
    first, same, other = (grant.path_digest for grant in grants.all)
    assert first == same != other
    assert "secret" not in first
    elsewhere, theirs, _ = audit("another key")
    elsewhere.record(subject_of(POD), "read", "granted", path="secret/a")
    assert theirs.all[0].path_digest != first


def test_who_had_a_certificate_is_found_by_its_path_alone() -> None:
    made, grants, _ = audit()
    for path in ("pki/issue/shop", "pki/issue/shop?common_name=a.b"):
        made.record(subject_of(POD), "read", "granted", path=path)
    plain, with_parameters = (grant.path_digest for grant in grants.all)
    assert plain == with_parameters


def test_a_pod_that_asks_for_ever_new_paths_costs_others_one_digest_at_most() -> None:
    made, grants, _ = audit()
    for number in range(MOST_DIGESTS):
        made.record(subject_of(POD), "read", "denied", path=f"secret/{number}")
    for _ in range(2):
        made.record(subject_of(POD), "renew", "granted", path="secret/a", lasts_s=60)
    first, second = (grant.path_digest for grant in grants.all[-2:])
    assert first is second


@given(
    path=st.text(max_size=MOST_KEPT + 9),
    secret=st.text(max_size=9),
    reason=st.sampled_from(["", "stale"]),
    version=st.none() | st.integers(0, 9),
    cached=st.booleans(),
)
def test_a_record_made_again_differs_in_its_time_alone(
    path: str, secret: str, reason: str, version: int | None, cached: bool
) -> None:
    made, grants, clock = audit()
    for _ in range(2):
        made.record(
            subject_of(POD),
            "read",
            "granted",
            path=path,
            secret=secret,
            reason=reason,
            version=version,
            cached=cached,
        )
        clock.jump(61.25)
    first, again = grants.all
    assert again == replace(first, at=first.at + 61.25)
    assert (first.version, first.cached, first.reason) == (version, cached, reason)
    other, others, _ = audit()
    other.record(subject_of(POD), "read", "granted", path="another")
    assert (others.all[0].path_digest == first.path_digest) == (path == "another")


@pytest.mark.parametrize(("result", "level"), [("granted", "INFO"), ("denied", "WARNING")])
def test_each_record_is_one_log_line(
    caplog: pytest.LogCaptureFixture, result: str, level: str
) -> None:
    caplog.set_level(logging.INFO)
    made, _, _ = audit()
    made.record(
        AuditSubject(caller="uid 7 /bin/x"),
        "read",
        "granted" if result == "granted" else "denied",
        secret="db",
        path="secret/app",
        reason="rule",
    )
    (line,) = caplog.records
    assert isinstance(line.args, dict)
    assert (line.message, line.levelname) == ("grant", level)
    assert line.args[names.POD] == "uid 7 /bin/x"
    assert line.args[names.REASON] == "rule"
    assert "secret/app" not in str(line.args)


texts = st.text(
    # Controls of both kinds, what turns the direction of writing, and lone surrogates, often.
    st.characters() | st.sampled_from("\x00\n\x7f\x9b\u200f\u202e\u2066\ud800\udcff\\"),
    max_size=80,
) | st.builds(lambda text: text * 100, st.text(min_size=1, max_size=20))


@given(st.lists(texts, min_size=8, max_size=8))
@example(["\U0010ffff" * 600] * 8)
@example(["uid 0 /tmp/cu\nrl"] * 8)
def test_no_text_makes_a_record_that_the_brain_refuses(given: list[str]) -> None:
    made, grants, clock = audit()
    namespace, pod, pod_uid, account, caller, secret, reason, role = given
    of = AuditSubject(
        namespace=namespace, pod=pod, pod_uid=pod_uid, service_account=account, caller=caller
    )
    made.record(of, "read", "granted", secret=secret, path=pod, reason=reason, role=role)
    # As it goes over the wire, and by the brain's own judgement.
    sent = msgspec.json.decode(msgspec.json.encode(grants.all[0]))
    assert list(grants_of("n1", [sent], now=clock.now())) == grants.all
