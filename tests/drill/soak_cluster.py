"""What a soak kills and asks: nemutator as it is installed, on a node, beside a hollow fleet that never rests."""

import base64
import contextlib
import json
import random
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nemutator_common.names import MUTATION
from nemutator_common.secret import Secret

from tests.drill.soak_fleet import FLEET, WELL_S
from tests.drill.soak_journal import changes_since, stamps_on
from tests.e2e.first_light import team as teams
from tests.e2e.first_light.installation import NAMESPACE as OWN
from tests.e2e.first_light.installation import install
from tests.e2e.first_light.team import DATABASE, NAMESPACE, OTHERS, Team
from tests.testbed.parts.asking import is_well
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.lent_databases import database_engine
from tests.testbed.parts.node.node import Node
from tests.testbed.parts.postgres import Postgres, SqlError
from tests.testbed.parts.postgres_databases import new_database
from tests.testbed.parts.vault import Vault, VaultRefusedError
from tests.testbed.running.waiting import until

Json = dict[str, Any]
OURS = {
    "mount": "agent",
    "credentials": "agent",
    "observe": "agent",
    "admission": "admission",
    "brain": "brain",
}
"""Each of our processes, with the component of its pod."""


DAEMONS = ("kube-apiserver", "etcd", "vault", "postgres")
VICTIMS = (*OURS, *DAEMONS)
AWAY_S = (0.5, 8.0)
"""How long somebody takes to start a daemon again."""


PATH = f"secret/data/{NAMESPACE}/db"
IMAGE_PULL = "nemutator-image-pull"
PASSWORD_FILE = "/var/run/nemutator-image-pull/postgres"
GRACE_S = 90.0
"""After a kill, in which its consequences are no surprise."""


DECISIONS = 1_000_000
WAITS_S = 3
"""The API server for a webhook, as `deploy/` has it."""


@dataclass(slots=True)
class Standing:
    """All of it, and when what was killed."""

    team: Team
    node: Node
    postgres: Postgres
    dice: random.Random
    database: str
    """The brain's."""
    planted: str
    """With what each secret begins that the soak writes."""
    kills: list[tuple[float, str]] = field(default_factory=list)
    written: int = 0
    lent: set[str] = field(default_factory=set)
    """Passwords that were read out of a pod."""

    @property
    def cluster(self) -> Cluster:
        return self.team.installation.cluster

    @property
    def vault(self) -> Vault:
        return self.team.installation.vault

    @property
    def secret(self) -> str:
        return f"{self.planted}-{self.written}"

    def kill(self, *victims: str) -> None:
        """All of them within seconds; daemons are started again, as an administrator does, our processes not."""
        installation = self.team.installation
        uids = {
            one: installation.pod_of(OURS[one])["metadata"]["uid"] for one in victims if one in OURS
        }
        before = {one: installation.restarts(OURS[one])[one] for one in uids}
        for victim in victims:
            self.kills.append((time.time(), victim))
            if victim in OURS:
                self.node.signal(uids[victim], victim, "KILL")
            else:
                # PostgreSQL's children must not outlive it: this is how it is killed with them.
                by = signal.SIGQUIT if victim == "postgres" else signal.SIGKILL
                self.cluster.run.daemons[victim].kill(by)
            time.sleep(self.dice.uniform(0, 2.0))
        time.sleep(self.dice.uniform(*AWAY_S))
        for victim in victims:
            if victim in DAEMONS:
                self.cluster.run.daemons[victim].begin_again()
        if "vault" in victims:
            port = self.vault.port
            until(lambda: is_well(port, "/v1/sys/seal-status"), "Vault answers", within_s=WELL_S)
            self.vault.unseal()
        until(lambda: self._is_well(before), f"all is well after {victims}", within_s=WELL_S)

    def _is_well(self, before: dict[str, int]) -> bool:
        try:
            if self.cluster.ask("/readyz")[0] != 200 or self.postgres.sql("SELECT 1") != "1":
                return False
            for component in set(OURS.values()):
                pod = self.team.installation.pod_of(component)
                if not shows_ready(pod):
                    return False
            return all(
                self.team.installation.restarts(OURS[one])[one] > count
                for one, count in before.items()
            )
        except (OSError, KubectlError, SqlError, ValueError):
            return False

    def write_a_secret(self) -> None:
        self.written += 1
        self.vault.call("POST", PATH, {"data": {"user": "app", "password": self.secret}})

    def has_arrived(self) -> bool:
        """Whether each pod of the team's has the last one, in its file and over its socket."""
        try:
            return all(self._has(pod["metadata"]["name"]) for pod in self.team.pods("app"))
        except (KubectlError, KeyError, ValueError):
            return False

    def _has(self, pod: str) -> bool:
        file = ("exec", pod, "--container=app", "--", "cat", "/run/nemutator/secrets/db")
        if self.team.kubectl(*file) != self.secret:
            return False
        reply = self.team.ask(pod, "/v1/secret/db")
        return (reply.status, reply.document["value"]) == (200, self.secret)

    def lent_user_logs_in(self) -> bool:
        try:
            file = (
                "exec",
                "deployment/borrower",
                "--container=app",
                "--",
                "cat",
                "/run/nemutator/secrets/pg",
            )
            lent = json.loads(self.team.kubectl(*file))
            self.lent.add(lent["password"])
            user, password = str(lent["username"]), Secret(lent["password"])
            asked = "SELECT current_user"
            return self.postgres.sql(asked, user=user, password=password) == user
        except (KubectlError, SqlError, ValueError):
            return False

    def try_a_new_pod(self) -> None:
        """One that is made now is changed, has its secret, and goes again."""
        name = f"fresh-{self.written}"
        template = teams.deployment("fresh")["spec"]["template"]
        metadata = {**template["metadata"], "name": name, "namespace": NAMESPACE}
        pod = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": metadata}
        until(lambda: self._is_changed(pod), f"{name} is made and changed", within_s=WELL_S)
        try:
            self.team.kubectl(
                "wait", f"pod/{name}", "--for=condition=Ready", f"--timeout={WELL_S:g}s"
            )
            until(lambda: self._has(name), f"{name} has its secret", within_s=WELL_S)
        finally:
            self.team.kubectl("delete", "pod", name, "--wait=false")

    def _is_changed(self, pod: Json) -> bool:
        """Whether it is made as admission has it. An API server that has just been killed may be slower than kubectl
        waits, or let it in without an answer of admission's: that it had none is examined at the end, and another one
        is made."""
        here = ("pod", pod["metadata"]["name"], f"--namespace={NAMESPACE}")
        try:
            self.cluster.apply(pod)
            made = self.cluster.get(*here)
            if MUTATION in made["metadata"].get("annotations", {}):
                return True
            self.cluster.kubectl("delete", *here, "--now", within_s=WELL_S)
        except KubectlError:
            pass
        return False

    def journal(self, since: float) -> dict[str, Json]:
        """What admission has done to pods since then, by id."""
        token = self.cluster.token(OTHERS, "operator")
        return changes_since(self.team.installation, since, token=token)

    def stamps(self) -> set[str]:
        """The decisions that stand on pods that there are now."""
        _, body = self.cluster.ask("/api/v1/pods")
        return stamps_on(json.loads(body)["items"])

    def restarted_applications(self) -> list[str]:
        """Pods of the team's that were restarted, are not ready, or were made anew."""
        return [
            pod["metadata"]["name"]
            for pod in (*self.team.pods("app"), *self.team.pods("borrower"))
            if not shows_ready(pod)
            or any(one["restartCount"] for one in pod["status"]["containerStatuses"])
        ]

    def places_with(self, words: Sequence[str]) -> list[str]:
        """Kinds of the API, and tables of the brain's database, that have one of *words* in what they hold."""
        found = []
        for plural in ("pods", "events", "configmaps"):
            _, body = self.cluster.ask(f"/api/v1/{plural}")
            found += [plural] if any(word in body for word in words) else []
        _, body = self.cluster.ask("/api/v1/secrets")
        held = [
            base64.b64decode(value).decode(errors="replace")
            for one in json.loads(body)["items"]
            for value in one.get("data", {}).values()
        ]
        found += ["secrets"] if any(word in value for value in held for word in words) else []
        return found + [table for table in self._tables() if self._table_has(table, words)]

    def _tables(self) -> list[str]:
        named = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        return self.postgres.sql(named, database=self.database).splitlines()

    def _table_has(self, table: str, words: Sequence[str]) -> bool:
        # Bytes are shown in hexadecimal.
        shown = (form for word in words for form in (word, word.encode().hex()))
        like = " OR ".join(f"row_of::text LIKE '%{form}%'" for form in shown)
        asked = f'SELECT count(*) FROM "{table}" row_of WHERE {like}'
        return self.postgres.sql(asked, database=self.database) != "0"

    def is_close_to_a_kill(self, at: float, *of: str) -> bool:
        return any(-GRACE_S <= kill - at <= GRACE_S for kill, who in self.kills if who in of)


def shows_ready(pod: Json) -> bool:
    conditions = {one["type"]: one["status"] for one in pod["status"].get("conditions", ())}
    return conditions.get("Ready") == "True"


@contextlib.contextmanager
def standing(
    cluster: Cluster, node: Node, image: ImageStore, vault: Vault, postgres: Postgres,
    folder: Path, dice: random.Random,
) -> Iterator[Standing]:  # fmt: skip
    """Ready to be killed; the brain's records are in *postgres*."""
    planted = f"soak-secret-{dice.randbytes(8).hex()}"
    with new_database(postgres, folder) as server:
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OWN}})
        assert server.password_file is not None
        password = server.password_file.read_text()
        cluster.apply(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": IMAGE_PULL, "namespace": OWN},
                "stringData": {"postgres": password},
            }
        )
        settings = (
            f'database = "{server.place}"\n'
            f'database_password_file = "{PASSWORD_FILE}"\n'
            f"journal_decisions = {DECISIONS}\n"
        )
        installation = install(cluster, node, image, vault, brain=settings)
        _as_shipped(cluster)
        _on_real_nodes_only(cluster, node)
        team = teams.found(installation)
        cluster.apply(_policy())
        soak = Standing(team, node, postgres, dice, server.database, planted)
        soak.write_a_secret()
        # Renewed again and again, and replaced in an hour.
        with database_engine(vault, postgres, DATABASE, term="5m", longest="1h") as lent:
            declared = {"nemutator.io/secret.pg": lent, "nemutator.io/on-rotate": "signal:HUP@app"}
            cluster.apply(
                teams.deployment("app", 2),
                teams.deployment("borrower", annotations=declared, reads="pg"),
            )
            for name in ("app", "borrower"):
                teams.ready(team, name)
            yield soak


def _as_shipped(cluster: Cluster) -> None:
    """The webhooks wait as long as they do anywhere: what that bounds is drilled."""
    webhooks = cluster.get("mutatingwebhookconfiguration", "nemutator")["webhooks"]
    steps = [
        {"op": "replace", "path": f"/webhooks/{at}/timeoutSeconds", "value": WAITS_S}
        for at in range(len(webhooks))
    ]
    what = ("mutatingwebhookconfiguration", "nemutator")
    cluster.kubectl("patch", *what, "--type=json", f"--patch={json.dumps(steps)}")


def _on_real_nodes_only(cluster: Cluster, node: Node) -> None:
    """No kubelet would start an agent on a hollow one."""
    selector = {"kubernetes.io/hostname": node.name}
    change = {"spec": {"template": {"spec": {"nodeSelector": selector}}}}
    agent = ("daemonset/nemutator-agent", f"--namespace={OWN}")
    cluster.kubectl("patch", *agent, f"--patch={json.dumps(change)}")
    wait = f"--timeout={WELL_S:g}s"
    cluster.kubectl("rollout", "status", *agent, wait, within_s=WELL_S + 10)


def _policy() -> Json:
    """Each pod of the fleet is changed."""
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": "soak"},
        "spec": {
            "match": {"namespaces": [f"{FLEET.name}-*"]},
            "mode": "Apply",
            "mutations": [{"labels": {"set": {"soak": "yes"}}}],
        },
    }


def tokens_left(soak: Standing) -> list[Json]:
    with contextlib.suppress(VaultRefusedError, OSError):
        return soak.team.vault_tokens()
    return [{"what": "Vault does not answer"}]


def end_of(soak: Standing) -> None:
    """The applications go; nothing of theirs stays at Vault."""
    for name in ("app", "borrower"):
        soak.team.kubectl("delete", "deployment", name, "--cascade=foreground", "--wait=true")
    until(lambda: not tokens_left(soak), "Vault has no token of theirs", within_s=WELL_S)
