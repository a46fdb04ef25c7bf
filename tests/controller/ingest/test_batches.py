import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import Batch, Missing, Report, Summary, Throughput
from nemutator_controller.ingest.batches import (
    FUTURE_S,
    LARGEST_NUMBER,
    MOST_ENVELOPES,
    MOST_MISSING,
    MOST_PROCESSES,
    MOST_SUMMARIES,
    MOST_WORKLOADS,
    RefusedBatchError,
    check,
    decode,
)

from tests.fakes.batches import NOW, batch, busy_report, process, sequences, workload

SUMMARY = Summary(
    path="/system.slice/ssh.service",
    pod_uid=None,
    container_id=None,
    from_at=NOW - 15,
    to_at=NOW,
    cpu_cores=0.1,
    memory_bytes=4096,
)


def with_report(report: Report) -> Batch:
    one = batch()
    return replace(one, envelopes=(replace(one.envelopes[0], report=report),))


def reason(given: Batch) -> str:
    with pytest.raises(RefusedBatchError) as refused:
        check(given, now=NOW)
    return refused.value.reason


def test_a_report_of_an_agent_that_does_not_tell_throughput_is_taken() -> None:
    sent = json.loads(msgspec.json.encode(batch()))
    del sent["envelopes"][0]["report"]["machine"]["throughput"]
    assert decode(json.dumps(sent).encode()) == batch()


def test_throughput_below_zero_is_refused() -> None:
    report = batch().envelopes[0].report
    machine = replace(report.machine, throughput=Throughput(network_sent=-1.0))
    assert reason(with_report(replace(report, machine=machine))) == "number"


@given(sequences)
def test_what_an_agent_encodes_comes_out_as_it_was_and_is_accepted(seqs: list[int]) -> None:
    sent = batch(seqs, at=NOW - 100)
    received = decode(msgspec.json.encode(sent))
    assert received == sent
    check(received, now=NOW)


@given(st.binary(max_size=200))
def test_any_bytes_are_decoded_or_refused(body: bytes) -> None:
    with pytest.raises(RefusedBatchError) as refused:
        decode(body)
    assert refused.value.reason == "malformed"


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["node", "epoch", "envelopes", "seq", "report", "x"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_a_batch_or_refused(value: Any) -> None:
    with contextlib.suppress(RefusedBatchError):
        check(decode(msgspec.json.encode(value)), now=NOW)


@pytest.mark.parametrize(
    "body",
    [
        b'{"node":' * 20_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"later":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"node":"a","epoch":"b","envelopes":[{"seq":' + b"9" * 5_000 + b',"report":{}}]}',
        b'{"node":"\xff\xfe","epoch":"b","envelopes":[]}',
        b'{"node":"\\ud800","epoch":"b","envelopes":[]}',
        b'{"node":"a","epoch":"b","envelopes":NaN}',
        b"",
        b"null",
    ],
    ids=str,
)
def test_deep_huge_and_broken_json_is_refused(body: bytes) -> None:
    with pytest.raises(RefusedBatchError):
        check(decode(body), now=NOW)


def test_unknown_fields_of_a_newer_agent_are_ignored() -> None:
    document = msgspec.to_builtins(batch()) | {"colour": {"of": ["the", "sky"]}}
    assert decode(msgspec.json.encode(document)) == batch()


@pytest.mark.parametrize("node", ["", "a b", "a\n", "../x", "-a", "a" * 254, "ä", "<b>"])
def test_a_node_must_have_a_plain_name(node: str) -> None:
    assert reason(batch(node=node)) == "text"


@pytest.mark.parametrize("epoch", ["", "a b", "e" * 65])
def test_an_epoch_must_be_plain(epoch: str) -> None:
    assert reason(batch(epoch=epoch)) == "text"


@pytest.mark.parametrize("seqs", [(0,), (-1,), (2, 2), (2, 1), (2**60,)])
def test_numbers_must_increase_from_one(seqs: tuple[int, ...]) -> None:
    assert reason(batch_at_now(seqs)) == "order"


def batch_at_now(seqs: tuple[int, ...]) -> Batch:
    one = batch()
    return replace(one, envelopes=tuple(replace(one.envelopes[0], seq=seq) for seq in seqs))


def test_an_empty_or_a_huge_batch_is_refused() -> None:
    assert reason(batch(())) == "bounds"
    assert reason(batch_at_now(tuple(range(1, MOST_ENVELOPES + 2)))) == "bounds"


def many(kind: str, count: int) -> Batch:
    made: dict[str, Callable[[int], object]] = {
        "workloads": lambda number: workload(f"/w{number}"),
        "processes": lambda number: process(number + 1),
        "missing": lambda number: Missing(f"fact {number}", "why", "remedy"),
        "summaries": lambda _: SUMMARY,
    }
    members: dict[str, Any] = {kind: tuple(made[kind](number) for number in range(count))}
    return with_report(replace(busy_report(), **members))


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        ("workloads", MOST_WORKLOADS),
        ("processes", MOST_PROCESSES),
        ("missing", MOST_MISSING),
        ("summaries", MOST_SUMMARIES),
    ],
)
def test_each_kind_has_its_bound(kind: str, most: int) -> None:
    check(many(kind, most), now=NOW)
    assert reason(many(kind, most + 1)) == "bounds"


@pytest.mark.parametrize(
    ("from_at", "to_at", "refused"),
    [
        (NOW, NOW, False),
        (NOW, NOW + FUTURE_S, False),
        (NOW, NOW - 1, True),
        (NOW, NOW + FUTURE_S + 1, True),
    ],
)
def test_a_summary_ends_after_it_begins_and_not_ahead_of_time(
    from_at: float, to_at: float, *, refused: bool
) -> None:
    summary = replace(SUMMARY, from_at=from_at, to_at=to_at)
    given_ = with_report(replace(busy_report(), summaries=(summary,)))
    if refused:
        assert reason(given_) == "future"
    else:
        check(given_, now=NOW)


@pytest.mark.parametrize("value", [0.0, LARGEST_NUMBER])
def test_the_smallest_and_the_largest_number_are_numbers(value: float) -> None:
    check(
        with_report(replace(busy_report(), processes=(replace(process(), cpu_cores=value),))),
        now=NOW,
    )


def test_the_number_that_is_wrong_is_the_one_that_is_named() -> None:
    extremes = (replace(process(1), cpu_cores=0.0), replace(process(2), cpu_cores=LARGEST_NUMBER))
    wrong = replace(process(3), cpu_cores=-7.0)
    with pytest.raises(RefusedBatchError, match="out of range: -7"):
        check(with_report(replace(busy_report(), processes=(*extremes, wrong))), now=NOW)


@pytest.mark.parametrize("digits", [10**400, -(10**400)])
def test_a_number_with_more_digits_than_a_float_holds_is_refused(digits: int) -> None:
    machine = replace(busy_report().machine, memory_bytes=digits)
    assert reason(with_report(replace(busy_report(), machine=machine))) == "number"


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), 2.0**54])
def test_a_number_that_cannot_be_is_refused(value: float) -> None:
    odd = replace(busy_report(), processes=(replace(process(), cpu_cores=value),))
    assert reason(with_report(odd)) == "number"
    assert reason(with_report(replace(busy_report(), taken_at=value))) == "number"


def test_a_report_from_the_future_is_refused_and_one_a_little_ahead_is_not() -> None:
    assert reason(with_report(busy_report(NOW + FUTURE_S + 1))) == "future"
    check(with_report(busy_report(NOW + FUTURE_S - 1)), now=NOW)


@pytest.mark.parametrize("command", ["a\nb", "\x1b[2J", "\x7f", "\u202eevil", "\u2028", "\x85"])
def test_text_that_draws_on_terminals_is_refused(command: str) -> None:
    odd = replace(busy_report(), processes=(replace(process(), command=command),))
    assert reason(with_report(odd)) == "text"


def test_text_of_any_language_and_of_html_is_text() -> None:
    for command in ("größe", "日本", "<img src=x>", "a'b\"c"):
        odd = replace(busy_report(), processes=(replace(process(), command=command),))
        check(with_report(odd), now=NOW)


@pytest.mark.parametrize("path", ["", "x", "a/b"])
def test_a_path_begins_at_the_root(path: str) -> None:
    assert reason(with_report(replace(busy_report(), workloads=(workload(path),)))) == "text"


def test_what_is_too_long_is_refused() -> None:
    long = replace(busy_report(), workloads=(workload("/" + "x" * 5_000),))
    assert reason(with_report(long)) == "bounds"


def test_a_workload_or_a_process_that_is_there_twice_is_refused() -> None:
    twice = replace(busy_report(), workloads=(workload(), workload()))
    assert reason(with_report(twice)) == "bounds"
    twice = replace(busy_report(), processes=(process(), process()))
    assert reason(with_report(twice)) == "bounds"
