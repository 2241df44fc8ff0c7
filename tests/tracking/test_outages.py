"""Servers that are away, slow, out of order, or killed: the sweep goes on, and nothing is lost or doubled."""

from __future__ import annotations

import re
import shutil
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sweep.errors import TrackingError
from sweep.results import Ledger
from sweep.tracking import syncer
from sweep.tracking.destination import Destination
from sweep.tracking.mirror import SyncReport, sync
from sweep.tracking.process import RECOVERED
from tests.analysis.synthetic import build, fill, header, latencies, record
from tests.tracking.proxy import Proxy
from tests.tracking.stores import Store, count, free_port, said, until

pytestmark = [pytest.mark.slow, pytest.mark.soak, pytest.mark.filterwarnings("ignore")]
FOUR = latencies(0.002, 0.003, 0.004, 0.005)


@dataclass
class Following:
    """A syncer in a thread of this process, which has imported MLflow already."""

    folder: Path
    store: Store
    said: list[str] = field(default_factory=list)
    report: SyncReport | None = None
    error: TrackingError | None = None

    def __post_init__(self):
        self.thread = threading.Thread(target=self._follow, daemon=True)
        self.thread.start()

    def _follow(self):
        try:
            self.report = syncer.follow(self.folder, self.store.destination)
        except TrackingError as error:
            self.error = error

    def done(self, seconds=60.0):
        self.thread.join(seconds)
        assert not self.thread.is_alive()
        return self.report


@pytest.fixture
def follow(monkeypatch):
    monkeypatch.setattr(syncer, "POLL_S", 0.1)
    monkeypatch.setattr(syncer, "GRACE_S", 120.0)
    lines: list[str] = []
    monkeypatch.setattr(syncer, "_say", lines.append)
    return lambda folder, store: Following(folder, store, lines)


@pytest.fixture
def proxy(server):
    with Proxy(server.url) as running:
        yield running


@pytest.fixture
def mirror(proxy, tmp_path, request):
    """The server, through the proxy, with an experiment of the test's own."""
    return Store(tmp_path, proxy.uri, re.sub(r"\W", "_", request.node.name))


@pytest.fixture
def undisturbed(store):
    """What a database says after nothing has gone wrong."""

    def sync(folder):
        store.sync(folder)
        return said(store)

    return sync


def test_a_real_server_says_what_a_database_says(mirror, undisturbed, tmp_path):
    folder = build(tmp_path / "s", FOUR, range(4))
    assert mirror.sync(folder).created == 5
    assert said(mirror) == undisturbed(folder)
    assert mirror.sync(folder).unchanged == 5


def test_answers_that_are_lost_leave_nothing_twice(mirror, proxy, follow, undisturbed, tmp_path):
    """Creating is not idempotent: the server has made the run, and the client does not know."""
    folder = build(tmp_path / "s", FOUR, range(4))
    proxy.lose = {"runs/create": 3, "runs/log-batch": 2, "runs/update": 2, "set-tag": 2, "mlflow-artifacts": 1}
    assert follow(folder, mirror).done().state == "FINISHED"
    assert not any(proxy.lose.values())
    assert said(mirror) == undisturbed(folder)


def test_a_client_that_repeats_creations_leaves_nothing_twice(mirror, proxy, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    proxy.lose = {"runs/create": 1}
    mirror.sync(build(tmp_path / "s", FOUR, range(4)))
    assert len([path for path in proxy.seen if path.endswith("runs/create")]) == 6
    assert mirror.states() == ["FINISHED"] * 5


def test_a_server_out_of_order_for_a_while(mirror, proxy, follow, undisturbed, tmp_path):
    folder = tmp_path / "s"
    with Ledger.create(folder / "ledger.sqlite", header()) as ledger:
        ledger.begin({})
        fill(ledger, FOUR, range(4), lambda c, s: record(c, s) if s < 3 else None)
        proxy.errors = -1
        following = follow(folder, mirror)
        until(lambda: len(proxy.seen) >= 3)
        assert len(following.said) == 2, "it is said once: the details, then the sentence"
        assert following.said[1].endswith("it answers with errors of its own; its log says more.")
        proxy.errors = 0
        until(lambda: mirror.runs()[0].info.status == "RUNNING")
        until(lambda: following.said[2:] == [RECOVERED])
        proxy.errors = 2
        fill(ledger, FOUR, range(4))
        ledger.finish()
    assert following.done().state == "FINISHED"
    assert said(mirror) == undisturbed(folder)


def test_a_slow_server(mirror, proxy, follow, undisturbed, tmp_path):
    folder = build(tmp_path / "s", FOUR[:2], range(4))
    proxy.delay_s = 0.2
    following = follow(folder, mirror)
    assert following.done().created == 3
    assert following.said == []
    assert said(mirror) == undisturbed(folder)


def test_a_server_that_hangs_is_given_up_in_time(mirror, proxy, follow, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    folder = build(tmp_path / "s", FOUR, range(2))
    proxy.hangs = True
    started = time.monotonic()
    following = follow(folder, mirror)
    assert following.done() is None
    assert time.monotonic() - started < 10
    assert "did not answer within 1 s (MLFLOW_HTTP_REQUEST_TIMEOUT)" in str(following.error)
    assert len(proxy.seen) == 1, "it never answered, so it is not waited for"


def test_an_absent_server_is_given_up_at_once(follow, tmp_path):
    folder = build(tmp_path / "s", FOUR, range(2))
    absent = Store(tmp_path, f"http://127.0.0.1:{free_port()}")
    started = time.monotonic()
    following = follow(folder, absent)
    assert following.done() is None
    assert time.monotonic() - started < 5
    assert str(following.error).startswith(f"MLflow at {absent.destination.uri} could not be used: nothing listens")


def test_a_server_that_answered_and_went_is_waited_for_a_while(mirror, proxy, follow, tmp_path, monkeypatch):
    monkeypatch.setattr(syncer, "GRACE_S", 1.0)
    folder = build(tmp_path / "s", FOUR, range(2))
    proxy.lose = {"runs/create": 10**6}
    started = time.monotonic()
    following = follow(folder, mirror)
    assert following.done() is None
    assert 1.0 <= time.monotonic() - started < 20
    assert "it went away in the middle" in str(following.error)


def test_a_server_killed_in_the_middle_and_started_again(server, mirror, follow, undisturbed, tmp_path):
    cells = latencies(*(0.001 * i for i in range(12)))
    folder = build(tmp_path / "s", cells, range(2))
    database = server.destination.uri.removeprefix("sqlite:///")
    before = count(database, "SELECT count(*) FROM runs")
    following = follow(folder, mirror)
    until(lambda: count(database, "SELECT count(*) FROM runs") >= before + 5)
    server.end(signal.SIGKILL)
    until(lambda: following.said)
    server.start()
    server.wait_until_up()
    assert following.done(120).state == "FINISHED"
    assert said(mirror) == undisturbed(folder)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((404, "text/html", b"<html>nothing here</html>"), "not MLflow's server"),
        ((200, "text/html", b"<html>a router's page</html>"), "not MLflow's server"),
        ((401, "text/plain", b"You are not authenticated."), "MLFLOW_TRACKING_USERNAME"),
        ((403, "text/plain", b"Invalid Host header - possible DNS rebinding attack detected"), "--allowed-hosts"),
        ((403, "application/json", b'{"error_code": "PERMISSION_DENIED", "message": "no"}'), "not allowed"),
        ((503, "text/plain", b"starting"), "errors of its own"),
    ],
)
def test_what_a_wrong_address_answers_reads_like_advice(answer, words, tmp_path):
    from tests.tracking.proxy import Answering

    with Answering(*answer) as place, pytest.raises(TrackingError, match=re.escape(words)) as caught:
        Store(tmp_path, place.uri).sync(build(tmp_path / "s", FOUR, range(1)))
    assert str(caught.value).startswith(f"MLflow at {place.uri} could not be used: ")


def test_other_things_that_can_be_wrong_read_like_advice(template, tmp_path):
    folder = build(tmp_path / "s", FOUR, range(1))

    def told(uri):
        with pytest.raises(TrackingError) as caught:
            sync(folder, Destination.of_sweep(tmp_path, "arm", uri, environment={}))
        return str(caught.value)

    assert "no machine of that name" in told("http://nowhere.invalid:5000")
    assert "write http://" in told(f"https://127.0.0.1:{_plain_port()}")
    later = tmp_path / "later.db"
    shutil.copy(template, later)
    _execute(later, "UPDATE alembic_version SET version_num = 'ffffffffffff'")
    assert "another MLflow version's" in told(f"sqlite:///{later}")
    assert "the database cannot be opened" in told("sqlite:////proc/nowhere/mlflow.db")
    for uri in ("postgresql://me:hunter2@127.0.0.1/db", "mysql+nodriver://me:hunter2@127.0.0.1/db"):
        assert "me:***@127.0.0.1" in told(uri)
        assert "hunter2" not in told(uri)


def _plain_port() -> int:
    from tests.tracking.proxy import Answering

    place = Answering(200, "text/plain", b"").__enter__()
    return int(place.uri.rpartition(":")[2])


def _execute(database: Path, statement: str) -> None:
    import sqlite3

    with sqlite3.connect(database) as connection:
        connection.execute(statement)
