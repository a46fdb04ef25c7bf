"""Lines as they leave the process: one each, bounded, with the bound ids, for machine or person."""

import asyncio
import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from nemutator_common import logs, names
from nemutator_common.repeated_lines import RepeatedLine
from nemutator_common.secret import Secret
from nemutator_common.settings import LogFormat, LogLevel


@pytest.fixture(autouse=True)
def _root_logger_restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, raising = root.handlers[:], root.level, logging.raiseExceptions
    places = logging._srcfile, logging.logThreads, logging.logProcesses, logging.logMultiprocessing
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.raiseExceptions = raising
    logging._srcfile, logging.logThreads, logging.logProcesses, logging.logMultiprocessing = places
    logging.captureWarnings(capture=False)


def configured(style: LogFormat, level: LogLevel = LogLevel.INFO) -> io.StringIO:
    stream = io.StringIO()
    logs.configure(role="observe", level=level, style=style, stream=stream)
    return stream


def written(stream: io.StringIO) -> str:
    logs.flush()
    return stream.getvalue()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written(stream).splitlines()]


def test_a_json_line_has_the_event_and_its_keys() -> None:
    stream = configured(LogFormat.JSON)
    logging.getLogger("x").info("child_restarted", {names.PROCESS: "brain", names.DELAY_S: 1.5})
    (line,) = lines(stream)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "event": "child_restarted",
        "role": "observe",
        "logger": "x",
        "process": "brain",
        "delay_s": 1.5,
    }


@pytest.mark.parametrize("style", [LogFormat.JSON, LogFormat.TEXT])
@pytest.mark.parametrize("bound", [{}, {names.REQUEST: 'a"b'}, {names.REASON: "x", names.COUNT: 7}])
def test_a_line_that_is_logged_again_is_like_any_other(
    style: LogFormat, bound: dict[names.Key, object]
) -> None:
    stream, log = configured(style), logging.getLogger("x")
    keys = {names.REASON: "ü\n" * 2_000, names.PROCESS: Secret("hunter2"), names.CACHED: True}
    line = RepeatedLine(log, logging.WARNING, "grant", keys)
    with logs.bound(bound):
        log.warning("grant", keys)
        line.log_again()
        line.log_again()
    usual, first, again = (
        [line.pop("time") and list(line.items()) for line in lines(stream)]
        if style is LogFormat.JSON
        else [line.partition(" ")[2] for line in written(stream).splitlines()]
    )
    assert usual == first == again


def test_a_line_below_the_level_is_left_out_when_it_is_logged_again() -> None:
    stream = configured(LogFormat.JSON, LogLevel.WARNING)
    line = RepeatedLine(logging.getLogger("x"), logging.INFO, "grant", {})
    line.log_again()
    assert not written(stream)
    stream = configured(LogFormat.JSON)
    line.log_again()
    assert [line["event"] for line in lines(stream)] == ["grant"]


def test_lines_of_third_parties_come_out_in_the_same_shape() -> None:
    stream = configured(LogFormat.JSON)
    logging.getLogger("aiohttp").warning("%s of %d", "one", 2)
    assert lines(stream)[0]["event"] == "one of 2"


def test_lines_below_the_level_are_left_out() -> None:
    stream = configured(LogFormat.JSON, LogLevel.WARNING)
    logging.getLogger("x").info("quiet")
    logging.getLogger("x").warning("loud")
    assert [line["event"] for line in lines(stream)] == ["loud"]


async def test_bound_ids_follow_into_tasks_and_end_with_their_block() -> None:
    stream = configured(LogFormat.JSON)
    log = logging.getLogger("x")

    async def inside() -> None:
        log.info("inside")

    with logs.bound({names.REQUEST: "r1"}), logs.bound({names.NODE: "n1"}):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(inside())
    log.info("outside")
    first, second = lines(stream)
    assert (first["request"], first["node"]) == ("r1", "n1")
    assert {"request", "node"}.isdisjoint(second)


@pytest.mark.parametrize("style", [LogFormat.JSON, LogFormat.TEXT])
def test_a_strangers_text_is_bounded_and_stays_on_its_line(style: LogFormat) -> None:
    stream = configured(style)
    hostile = "x\n12:00:00 ERROR fake\x1b[31m" + "y" * 100_000
    logging.getLogger("x").info("read", {names.PATH: hostile})
    assert len(written(stream).splitlines()) == 1
    assert "\x1b" not in written(stream)
    assert len(written(stream)) < 2 * logs.LONGEST_VALUE


def test_a_line_that_cannot_be_written_does_not_end_what_logs_it() -> None:
    stream = configured(LogFormat.JSON)
    logging.getLogger("x").info("%d apples", "many")
    logging.getLogger("x").info("after it")
    assert [line["event"] for line in lines(stream)] == ["after it"]


@pytest.mark.parametrize("style", [LogFormat.JSON, LogFormat.TEXT])
def test_a_secret_is_masked(style: LogFormat) -> None:
    stream = configured(style)
    logging.getLogger("x").info("login", {names.ERROR: Secret("hunter2")})
    assert "***" in written(stream)
    assert "hunter2" not in written(stream)


def test_text_is_for_people_and_auto_is_json_without_a_terminal() -> None:
    stream = configured(LogFormat.TEXT)
    logging.getLogger("x").info("started", {names.ADDRESS: "a b"})
    assert written(stream)[8:] == " INFO    observe: started address=a b\n"
    stream = configured(LogFormat.AUTO)
    logging.getLogger("x").info("started")
    assert lines(stream)


def test_a_traceback_is_part_of_the_line() -> None:
    stream = configured(LogFormat.JSON)
    error: Exception
    try:
        raise ValueError("inner")
    except ValueError as caught:
        error = caught
    logging.getLogger("x").error("defect", {names.ERROR: "ValueError"}, exc_info=error)
    assert "inner" in lines(stream)[0]["traceback"]
    assert sys.exc_info() == (None, None, None)
