from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.shipping import report_columns
from nemutator_common.shipping.report_columns import ReportColumns
from nemutator_common.wire import Ack, Batch, Report, Summary
from nemutator_common.wire_columns import COLUMNS_FORM, MAGIC, MOST_SERIES

from tests.fakes.batches import NOW, busy_report

numbers = st.floats(0, 1e9)
summaries = st.builds(
    Summary,
    path=st.sampled_from(["/a", "/b", "/kubepods/x"]),
    pod_uid=st.sampled_from([None, "u1"]),
    container_id=st.sampled_from([None, "c1"]),
    program=st.sampled_from([None, "shop"]),
    from_at=st.floats(NOW - 60, NOW - 15),
    to_at=st.floats(NOW - 15, NOW),
    cpu_cores=numbers,
    memory_bytes=st.integers(0, 2**50),
    throttled=st.none() | st.floats(0, 1),
    oom_kills=st.none() | st.integers(0, 9),
    disk_read=st.none() | numbers,
)
reports = st.lists(summaries, max_size=8).map(
    lambda some: replace(busy_report(), summaries=tuple(some))
)
TAKES = Ack("e1", 0, form=COLUMNS_FORM)


def said(*paths: str) -> Report:
    one = Summary(
        path="/", pod_uid="u", container_id="c", from_at=NOW - 15, to_at=NOW,
        cpu_cores=0.5, memory_bytes=1000,
    )  # fmt: skip
    return replace(busy_report(), summaries=tuple(replace(one, path=path) for path in paths))


@given(st.lists(reports, min_size=1, max_size=4))
def test_for_a_brain_that_knows_json_alone_nothing_is_missing(some: list[Report]) -> None:
    form = ReportColumns()
    waiting = [(seq, form.record(one)) for seq, one in enumerate(some, 1)]
    batch = msgspec.json.decode(form.encode("n1", "e1", waiting), type=Batch)
    assert [one.report for one in batch.envelopes] == some


def test_columns_are_sent_once_a_brain_says_that_it_takes_them() -> None:
    form = ReportColumns()
    waiting = [(1, form.record(said("/a")))]
    assert not form.encode("n1", "e1", waiting).startswith(MAGIC)
    form.acknowledged(TAKES)
    assert form.encode("n1", "e1", waiting).startswith(MAGIC)
    form.acknowledged(Ack("e1", 0))
    assert not form.encode("n1", "e1", waiting).startswith(MAGIC)


def test_names_that_the_brain_has_are_not_sent_again() -> None:
    form = ReportColumns()
    form.acknowledged(TAKES)
    first, second = form.record(said("/a", "/b")), form.record(said("/b", "/c"))
    assert all(name in form.encode("n", "e", [(1, first)]) for name in (b'"/a"', b'"/b"'))
    form.acknowledged(replace(TAKES, naming=1, named=2))
    body = form.encode("n", "e", [(2, second)])
    assert b'"/b"' not in body
    assert b'"/c"' in body
    # It was restarted, and asks for all of them.
    form.acknowledged(TAKES)
    assert b'"/a"' in form.encode("n", "e", [(2, second)])


def test_what_nobody_would_learn_from_is_not_sent() -> None:
    form = ReportColumns()
    unit = replace(said("/u").summaries[0], pod_uid=None, container_id=None)
    report = replace(said("/c"), summaries=(*said("/c").summaries, unit))
    assert len(form.report(form.record(report)).summaries) == 2
    form.acknowledged(replace(TAKES, only_containers=True))
    assert [one.path for one in form.report(form.record(report)).summaries] == ["/c"]


def test_what_was_refused_as_columns_is_sent_as_json_once() -> None:
    form = ReportColumns()
    form.acknowledged(TAKES)
    waiting = [(3, form.record(said("/a")))]
    assert form.refused(3)
    assert not form.encode("n", "e", waiting).startswith(MAGIC)
    assert not form.refused(3)
    assert form.encode("n", "e", [(4, waiting[0][1])]).startswith(MAGIC)


def test_after_many_series_all_are_named_anew_and_what_waits_keeps_its_names() -> None:
    form = ReportColumns()
    form.acknowledged(TAKES)
    old = form.record(said(*(f"/{number}" for number in range(MOST_SERIES - 1))))
    form.acknowledged(replace(TAKES, naming=1, named=MOST_SERIES - 1))
    new = form.record(said("/x", "/y"))
    body = form.encode("n", "e", [(1, old), (2, new)])
    assert b'"naming":1' in body
    assert b'"naming":2' in body
    assert b'"/x"' in body
    assert form.report(old).summaries[5].path == "/5"
    assert len(form._names) == report_columns._KEPT_NAMINGS


def test_what_has_waited_longer_than_its_names_are_kept_is_sent_with_its_snapshot_alone() -> None:
    form = ReportColumns()
    form.acknowledged(TAKES)
    old = form.record(said("/old"))
    for naming in ("a", "b"):
        form.record(said(*(f"/{naming}{number}" for number in range(MOST_SERIES))))
    new = form.record(said("/b0"))
    batch = msgspec.json.decode(form.encode("n", "e", [(1, old), (2, new)]), type=Batch)
    assert [len(one.report.summaries) for one in batch.envelopes] == [0, 1]
    assert batch.envelopes[0].report.machine == busy_report().machine
    assert form.encode("n", "e", [(2, new)]).startswith(MAGIC)
