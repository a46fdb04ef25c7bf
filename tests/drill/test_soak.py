"""Half an hour in which pods come and go, and every process is killed again and again.

nemutator as `deploy/` has it, on a real API server, kubelet, Vault and PostgreSQL. After each kill: the team's
pods run as if nothing had been, what was written to Vault is with all of them, a new pod is changed and has its
secret, and each change that a pod carries is in the journal. At the end: nothing in the journal is without its
pod, no secret is anywhere but at Vault and in its pods, and memory is what it was. What is found is told on one
page, `.build/soak.md`.
"""

import json
import os
import platform
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import pytest

from tests.drill import soak_report
from tests.drill.soak_cluster import DAEMONS, OURS, VICTIMS, WAITS_S, Standing, end_of, standing
from tests.drill.soak_fleet import FLEET, WELL_S, Hollow
from tests.drill.soak_report import Round, Soak
from tests.drill.soak_witness import AuditWatch, Machine, files_with
from tests.e2e.first_light.team import NAMESPACE
from tests.testbed.building.cache import MissingPartError
from tests.testbed.parts import vault as parts_vault
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.postgres import Postgres
from tests.testbed.parts.vault import Vault
from tests.testbed.running.waiting import NotInTimeError, until

PAGE = Path(__file__).parents[2] / ".build" / "soak.md"
MINUTES = float(os.environ.get("DRILL_MINUTES", "30"))
PODS_PER_S = float(os.environ.get("DRILL_PODS_PER_S", "20"))
TWO_AT_ONCE = 0.3
"""Of the rounds."""
HOURS_S = 4 * 3600
LONGEST_CREATION_MS = WAITS_S * 1000 + 5000
"""What the webhook is waited for, and what a busy machine adds to the rest."""


@pytest.fixture
def kept_vault(cluster: Cluster) -> Vault:
    try:
        return parts_vault.begin(cluster, kept=True)
    except MissingPartError as missing:
        pytest.skip(str(missing))


@pytest.mark.timeout(HOURS_S)
def test_half_an_hour_of_kills(
    cluster: Cluster, node: Node, image: ImageStore, kept_vault: Vault, postgres: Postgres,
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    seed = int(os.environ.get("DRILL_SEED", time.time_ns() % 10**9))
    dice = random.Random(seed)
    with standing(cluster, node, image, kept_vault, postgres, tmp_path, dice) as soak:
        told = _Soaking(soak, dice).told()
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(soak_report.page(told))
    with capsys.disabled():
        print(f"\nseed {seed}; {PAGE}\n{PAGE.read_text()}")
    assert not told.complaints


class _Soaking:
    def __init__(self, soak: Standing, dice: random.Random) -> None:
        self.soak = soak
        self.dice = dice
        self.complaints: list[str] = []
        self.rounds: list[Round] = []
        self.began_at, self.began = time.time(), time.monotonic()
        namespaces = (f"{FLEET.name}-", NAMESPACE)
        words = [soak.planted.encode()]
        self.audit = AuditWatch(soak.cluster.audit_log, namespaces, words)
        self.journal: dict[str, dict[str, object]] = {}
        self.applications = self._uids()

    def told(self) -> Soak:
        soak = self.soak
        machine = Machine(soak.cluster.run.id, self.began)
        hollow = Hollow(soak.cluster, PODS_PER_S)
        with machine.watched(), hollow.running():
            self.began, machine.began, made = time.monotonic(), time.monotonic(), hollow.made
            for victims in self._victims():
                self._round(victims)
            minutes = (time.monotonic() - self.began) / 60
            made = hollow.made - made
        self._everything_is_explained()
        self._nothing_has_leaked()
        self._try("the end of the applications", lambda: end_of(soak))
        self.audit.close()
        if self.audit.leaks:
            self.complaints.append(f"a secret stands in {self.audit.leaks} lines of the audit log")
        memory = [
            found
            for part in OURS
            if (found := soak_report.memory_of(part, machine.memory.get(part, []), minutes=minutes))
        ]
        self.complaints += [
            f"the memory of {one.part} grows" for one in memory if soak_report.grows(one)
        ]
        latencies = soak_report.latencies_of(self.audit.waits_ms)
        if latencies.p99 > LONGEST_CREATION_MS:
            self.complaints.append(f"of 100 pods one takes {latencies.p99:.0f} ms to be created")
        loads = machine.loads or [os.getloadavg()[0]]
        return Soak(
            began=f"{datetime.fromtimestamp(self.began_at, UTC):%Y-%m-%d %H:%M} UTC",
            machine=f"{os.cpu_count()} CPUs, Linux {platform.release()}",
            minutes=minutes,
            load=(median(loads), max(loads)),
            pods_per_s=made / minutes / 60,
            rounds=self.rounds,
            counts=self._counts(),
            latencies=latencies,
            memory=memory,
            complaints=self.complaints,
        )

    def _victims(self) -> Iterator[tuple[str, ...]]:
        """Each comes before any comes once more; sometimes two at once."""
        bag: list[str] = []
        while time.monotonic() - self.began < MINUTES * 60:
            if not bag:
                bag = self.dice.sample(VICTIMS, len(VICTIMS))
            several = 2 if self.dice.random() < TWO_AT_ONCE else 1
            yield tuple(bag.pop() for _ in range(min(several, len(bag))))

    def _round(self, victims: tuple[str, ...]) -> None:
        at = time.monotonic()
        self.audit.read()
        if not self._try(
            f"recovering from the kill of {victims}", lambda: self.soak.kill(*victims)
        ):
            return
        well = time.monotonic()
        self._try(f"a secret after the kill of {victims}", self._secrets)
        secrets = time.monotonic()
        self._try(f"the journal after the kill of {victims}", self._journal_has_what_pods_carry)
        journal = time.monotonic()
        self.rounds.append(
            Round(at - self.began, victims, well - at, secrets - well, journal - secrets)
        )

    def _secrets(self) -> None:
        soak = self.soak
        soak.write_a_secret()
        until(soak.has_arrived, "each pod has what was written", within_s=WELL_S)
        until(soak.lent_user_logs_in, "the lent user logs in", within_s=WELL_S)
        soak.try_a_new_pod()
        if self._uids() != self.applications:
            self.complaints.append("a pod of the team's was replaced")
        self.complaints += [
            f"{pod} was restarted, or is not ready" for pod in soak.restarted_applications()
        ]

    def _journal_has_what_pods_carry(self) -> None:
        carried = self.soak.stamps()

        def complete() -> bool:
            last = max((float(str(one["at"])) for one in self.journal.values()), default=0.0)
            # Decisions of a replica that was away come later than younger ones.
            self.journal |= self.soak.journal(max(0.0, last - 300))
            return carried <= self.journal.keys()

        until(complete, "each change that a pod carries is in the journal", within_s=WELL_S)

    def _everything_is_explained(self) -> None:
        soak = self.soak
        self.audit.read()

        def complete() -> bool:
            self.journal = soak.journal(0)
            return self.audit.patched.keys() <= self.journal.keys()

        if not self._try(
            "the journal at the end",
            lambda: until(complete, "each patch has its record", within_s=WELL_S),
        ):
            missing = self.audit.patched.keys() - self.journal.keys()
            self.complaints += [
                f"decision {one} was carried out and is not in the journal" for one in missing
            ]
        answers = ("admission", "kube-apiserver", "etcd")
        for id_ in self.journal.keys() - self.audit.patched.keys():
            record = self.journal[id_]
            at = float(str(record["at"]))
            about = str(record.get("namespace", ""))
            ours = about.startswith(self.audit.namespaces) and at > self.began_at
            if ours and not soak.is_close_to_a_kill(at, *answers):
                self.complaints.append(f"decision {id_} is in the journal, and no pod has got it")
        for one in self.audit.unchanged:
            if not soak.is_close_to_a_kill(one.at, *answers) and not one.unasked:
                self.complaints.append(f"{one.pod} was let in unchanged, and nothing was away")

    def _nothing_has_leaked(self) -> None:
        soak = self.soak
        words = [soak.planted, *soak.lent]
        encoded = [word.encode() for word in words]
        run = soak.cluster.run
        folders = (run.logs, run.directory / "node" / "pod-logs")
        for place in (*files_with(encoded, folders), *soak.places_with(words)):
            self.complaints.append(f"a secret stands in {place}")
        for log in files_with([b"hvs."], (run.directory / "node" / "pod-logs",)):
            self.complaints.append(f"a token of Vault's stands in {log}")

    def _counts(self) -> dict[str, int]:
        kills = Counter(who for _, who in self.soak.kills)
        unchanged = self.audit.unchanged
        return {
            "processes of ours killed": sum(kills[one] for one in OURS),
            "API server, etcd, Vault and PostgreSQL killed": sum(kills[one] for one in DAEMONS),
            "changes that the API server tells of": len(self.audit.patched),
            "decisions in the journal": len(self.journal),
            "changes without their record": len(self.audit.patched.keys() - self.journal.keys()),
            "records whose answer was lost": len(self.journal.keys() - self.audit.patched.keys()),
            "pods let in unchanged, admission away": sum(one.unasked for one in unchanged),
            "pods let in unchanged otherwise": sum(not one.unasked for one in unchanged),
            "secrets written, each read by every pod": self.soak.written,
            "places with a secret or a token": self.audit.leaks
            + sum(one.startswith(("a secret stands", "a token of")) for one in self.complaints),
        }

    def _uids(self) -> set[str]:
        team = self.soak.team
        return {pod["metadata"]["uid"] for app in ("app", "borrower") for pod in team.pods(app)}

    def _try(self, what: str, do: Callable[[], object]) -> bool:
        """One promise that does not hold does not end the drill."""
        try:
            do()
        except (
            NotInTimeError, KubectlError, AssertionError, OSError, json.JSONDecodeError,
        ) as error:  # fmt: skip
            self.complaints.append(f"{what}: {type(error).__name__}: {error}")
            return False
        return True
