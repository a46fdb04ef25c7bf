"""Redis, Prometheus and PostgreSQL are real ones, and theirs alone who started them."""

import dataclasses
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from nemutator_common.secret import Secret

from tests.e2e.testbed import remains
from tests.testbed.parts.postgres import Postgres, SqlError
from tests.testbed.parts.prometheus import Prometheus
from tests.testbed.parts.redis import Redis, RedisRefusedError
from tests.testbed.running import leftovers
from tests.testbed.running.ports import LOOPBACK
from tests.testbed.running.waiting import until

REPOSITORY = Path(__file__).parents[3]

# Killed as hard as possible while its PostgreSQL works.
ABANDONING = """
import os, signal
from tests.testbed.parts import postgres
from tests.testbed.running.run import running

with running() as run:
    standing = postgres.begin(run)
    standing.sql("CREATE TABLE kept (word text)")
    print(run.directory, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_redis_keeps_what_it_is_told(redis: Redis) -> None:
    assert redis.call("PING") == "PONG"
    assert redis.call("SET", "testbed:word", "größer\r\n") == "OK"
    assert redis.call("GET", "testbed:word") == "größer\r\n"
    assert redis.call("GET", "testbed:nothing") is None
    assert redis.call("MGET", "testbed:word", "testbed:nothing") == ["größer\r\n", None]
    assert redis.call("DEL", "testbed:word") == 1


def test_redis_refuses_who_has_no_password(redis: Redis) -> None:
    with pytest.raises(RedisRefusedError, match="WRONGPASS"):
        dataclasses.replace(redis, password=Secret("guessed")).call("PING")


class Metrics(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"testbed_answer 42\n"
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        pass


@pytest.fixture
def target() -> Iterator[str]:
    """The address of somebody who has one metric."""
    with ThreadingHTTPServer((LOOPBACK, 0), Metrics) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_prometheus_scrapes_what_a_test_tells_it_to(prometheus: Prometheus, target: str) -> None:
    assert prometheus.query("testbed_answer") == []
    job = {
        "job_name": "own",
        "scrape_interval": "100ms",
        "scrape_timeout": "100ms",
        "static_configs": [{"targets": [target]}],
    }
    prometheus.scrape(job)
    try:
        until(lambda: prometheus.query("testbed_answer"), "a scrape", within_s=60)
        (series,) = prometheus.query("testbed_answer")
        assert series["metric"]["instance"] == target
        assert series["value"][1] == "42"
    finally:
        prometheus.scrape()


def test_postgresql_keeps_what_is_inserted(postgres: Postgres) -> None:
    postgres.sql("CREATE DATABASE kept")
    rows = postgres.sql(
        """
        CREATE TABLE words (id int PRIMARY KEY, word text);
        INSERT INTO words VALUES (1, 'one'), (2, NULL), (3, 'drei');
        SELECT id, word FROM words ORDER BY id;
        """,
        database="kept",
    )
    assert rows.splitlines() == ["1|one", "2|", "3|drei"]


def test_postgresql_refuses_a_wrong_password(postgres: Postgres) -> None:
    with pytest.raises(SqlError, match="password authentication failed"):
        postgres.sql("SELECT 1", password=Secret("guessed"))


def test_postgresql_reports_a_statement_that_fails(postgres: Postgres) -> None:
    with pytest.raises(SqlError, match='relation "nowhere" does not exist'):
        postgres.sql("SELECT 1 FROM nowhere")


def test_postgresql_listens_on_loopback_alone_and_has_no_socket_file(postgres: Postgres) -> None:
    shown = postgres.sql("SHOW listen_addresses; SHOW unix_socket_directories")
    assert shown.splitlines() == [LOOPBACK]


@pytest.mark.timeout(120)  # a second PostgreSQL, on a machine that may be busy
@pytest.mark.usefixtures("postgres")  # skips where there is none
def test_postgresql_of_killed_tests_leaves_nothing() -> None:
    before = remains.shared_memory()
    killed = subprocess.run(
        [sys.executable, "-c", ABANDONING],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    directory = Path(killed.stdout.strip())
    with leftovers.nobody_else_begins():
        leftovers.clean(directory)
    until(lambda: not remains.processes(directory), "its processes are gone", within_s=60)
    until(lambda: remains.shared_memory() <= before, "its memory is gone", within_s=60)
    assert not directory.exists()
