"""The four jobs on a real node, from an opted-in Deployment to what an operator sees of it.

The tests stand in the order of a day: each goes on with what the one before has left.
"""

import contextlib
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names

from tests.e2e.first_light import scratch
from tests.e2e.first_light import team as teams
from tests.e2e.first_light.installation import NAMESPACE as OWN
from tests.e2e.first_light.installation import Installation, delete_namespaces, uninstalling
from tests.e2e.first_light.manifests import AGENT
from tests.e2e.first_light.team import (
    ASK_FROM_NODE,
    DATABASE,
    GROUP,
    NAMESPACE,
    OTHERS,
    PASSWORD,
    PLUGIN,
    REACHED_S,
    READY_S,
    USER,
    Team,
    answers,
    may_log_in,
    only,
    ready,
)
from tests.testbed.parts.control_plane import KubectlError
from tests.testbed.parts.lent_databases import database_engine, leases_of, lent_by
from tests.testbed.parts.postgres import Postgres
from tests.testbed.running.waiting import until

# The first builds two images of Dockerfiles when the sources have changed.
pytestmark = pytest.mark.timeout(2000)

MUTATION = "nemutator.io/mutation"


@pytest.fixture(scope="module")
def team(installation: Installation, sample_image: None) -> Iterator[Team]:
    team = teams.found(installation)
    yield team
    installation.cluster.kubectl("delete", "clusterrolebinding", "operators")
    # Waited for: a pod with our volume does not end without us.
    delete_namespaces(installation.cluster, NAMESPACE, OTHERS)


def test_everything_stands_and_nothing_was_restarted(installation: Installation) -> None:
    for component in ("brain", "admission", "agent"):
        print(component, installation.restarts(component))
        assert set(installation.restarts(component).values()) == {0}


def test_pods_of_an_opted_in_namespace_are_changed_and_injected(team: Team) -> None:
    team.installation.cluster.apply(teams.deployment("app"))
    ready(team, "app")
    pod = only(team.pods("app"))
    labels, spec = pod["metadata"]["labels"], pod["spec"]
    assert (labels["team"], labels["cost-centre"]) == ("shop", "4711")
    app = only(spec["containers"])
    assert app["resources"]["requests"] == {"cpu": "50m", "memory": "64Mi"}
    assert spec["initContainers"][0]["name"] == "nemutator-init"
    volume = only([one for one in spec["volumes"] if "csi" in one])
    assert volume["csi"]["driver"] == "agent.nemutator.io"
    assert volume["csi"]["volumeAttributes"]["secret.db"] == f"secret/{NAMESPACE}/db#password"
    assert len(pod["metadata"]["annotations"][MUTATION]) <= 4096
    print("mutated:", pod["metadata"]["annotations"][MUTATION])


def test_the_policy_itself_says_that_it_is_followed(team: Team) -> None:
    cluster = team.installation.cluster
    ready_now = ("--for=condition=Ready", f"--timeout={READY_S}s")
    cluster.kubectl("wait", "mutationpolicy/teams", *ready_now, within_s=READY_S + 10)
    print(cluster.kubectl("get", "mutationpolicies"))


def test_the_application_finds_its_real_secret_in_a_file(team: Team) -> None:
    def content(name: str) -> str:
        where = f"/run/nemutator/secrets/{name}"
        return team.kubectl("exec", "deployment/app", "--container=app", "--", "cat", where)

    assert content("db") == PASSWORD
    assert PASSWORD in content("whole")
    mode = ("stat", "--dereference", "--format=%a %u %g", "/run/nemutator/secrets/db")
    shown = team.kubectl("exec", "deployment/app", "--container=app", "--", *mode)
    assert shown.split() == ["400", str(USER), str(GROUP)]
    pod = only(team.pods("app"))
    assert PASSWORD not in str(pod)
    print("file: /run/nemutator/secrets/db has what Vault has")


def test_its_file_follows_a_change_in_vault(team: Team) -> None:
    def whole() -> str:
        where = "/run/nemutator/secrets/whole"
        return team.kubectl("exec", "deployment/app", "--container=app", "--", "cat", where)

    assert "beside" not in whole()
    changed = {"user": "app", "password": PASSWORD, "beside": "new"}
    team.installation.vault.call("POST", f"secret/data/{NAMESPACE}/db", {"data": changed})
    until(lambda: "beside" in whole(), "the file has what Vault has", within_s=REACHED_S)
    print("file: /run/nemutator/secrets/whole has followed Vault")


def test_its_process_is_told_by_a_signal_and_reads_it_again(team: Team) -> None:
    until(lambda: len(team.has_read("app")) > 1, "its process was told", within_s=REACHED_S)
    assert team.has_read("app") == [{"user": "app"}, {"user": "app", "beside": "new"}]
    print("signal: the process has read", team.has_read("app"))


def test_a_pod_is_made_anew_when_a_variable_of_its_has_changed(team: Team) -> None:
    vault, path = team.installation.vault, f"secret/data/{NAMESPACE}/renewed"
    vault.call("POST", path, {"data": {"word": "before"}})
    declared = {
        "nemutator.io/env.WORD": f"secret/{NAMESPACE}/renewed#word",
        "nemutator.io/on-rotate": "restart",
    }
    renewed = teams.deployment("renewed", annotations=declared)
    renewed["spec"]["template"]["spec"]["containers"][0]["command"] = ["python", "-c", teams.WAITS]
    team.installation.cluster.apply(renewed)
    ready(team, "renewed")
    first = only(team.pods("renewed"))["metadata"]["name"]

    def has(word: str) -> bool:
        read = ("exec", "deployment/renewed", "--container=app", "--", "cat", "/proc/1/environ")
        # The one that ends takes no command any more.
        with contextlib.suppress(KubectlError):
            return f"WORD={word}" in team.kubectl(*read).split("\0")
        return False

    assert has("before")
    vault.call("POST", path, {"data": {"word": "after"}})
    until(lambda: has("after"), "a new pod has the new variable", within_s=2 * REACHED_S)
    events = team.kubectl("get", "events", f"--field-selector=involvedObject.name={first}")
    assert "SecretRotation" in events
    print("restart:", first, "->", [pod["metadata"]["name"] for pod in team.pods("renewed")])
    team.kubectl("delete", "deployment", "renewed", "--wait=true")


def test_a_lent_user_is_replaced_in_its_file_its_process_told_and_ends_with_its_pod(
    team: Team, postgres: Postgres
) -> None:
    vault = team.installation.vault
    # Too short to be renewed: another user takes its place in time.
    with database_engine(vault, postgres, DATABASE, term="20s", longest="20s") as lent:
        kept = lent_by(vault, DATABASE, "kept", term="1h", longest="24h")
        declared = {
            "nemutator.io/secret.pg": lent,
            "nemutator.io/secret.kept": kept,
            "nemutator.io/on-rotate": "signal:HUP@app",
        }
        team.installation.cluster.apply(
            teams.deployment("borrower", annotations=declared, reads="pg")
        )
        ready(team, "borrower")
        until(lambda: len(team.has_read("borrower")) > 1, "it was told", within_s=REACHED_S)
        first, second = [found["username"] for found in team.has_read("borrower")][:2]
        assert first != second
        until(lambda: may_log_in(team, postgres), "the file's user may log in", within_s=REACHED_S)
        print("signal: the process has read of", first, "and then of", second)
        assert len(leases_of(vault, kept)) == 1
        team.kubectl("delete", "deployment", "borrower", "--cascade=foreground", "--wait=true")
        # Long before it would end by itself.
        until(lambda: not leases_of(vault, kept), "it ends with its pod", within_s=REACHED_S)


def test_the_socket_knows_who_asks_and_what_they_declared(team: Team) -> None:
    pod = only(team.pods("app"))
    name = pod["metadata"]["name"]
    who = team.ask(name, "/v1/whoami").document
    assert (who["namespace"], who["pod"]) == (NAMESPACE, name)
    assert (who["uid"], who["service_account"]) == (pod["metadata"]["uid"], "default")
    assert team.ask(name, "/v1/secret/db").document["value"] == PASSWORD
    assert team.ask(name, "/v1/env").document == {"DB_USER": "app"}
    unknown = team.ask(name, "/v1/secret/nothing")
    assert unknown.status == 404
    assert "db" in unknown.body
    print("whoami:", who, "unknown:", unknown.body)


def test_a_program_alone_in_its_image_has_its_variables(team: Team, scratch_image: None) -> None:
    variables = {
        "nemutator.io/env.DB_PASSWORD": f"secret/{NAMESPACE}/db#password",
        "nemutator.io/env.DB_USER": f"secret/{NAMESPACE}/db#user",
        "nemutator.io/command.web": f'["{scratch.PROGRAM}", "-c", "echo $DB_USER"]',
    }
    missing = {"nemutator.io/env.DB_PASSWORD": f"secret/{NAMESPACE}/db#nothing"}
    shows = {"name": "app", "command": [scratch.PROGRAM, "-c"], "args": ["echo $DB_PASSWORD"]}
    # Nobody but the runtime knows what the second one starts; its owner says it.
    team.installation.cluster.apply(
        scratch.pod("with-variables", variables, shows, {"name": "web"}),
        scratch.pod("without-variable", missing, shows),
    )
    done = scratch.ended(team, "with-variables")
    assert {name: state["exitCode"] for name, state in done.items()} == {"app": 0, "web": 0}
    for container, value in (("app", PASSWORD), ("web", "app")):
        assert team.kubectl("logs", "with-variables", container).strip() == value
    pod = team.get("pod", "with-variables")
    assert pod["spec"]["containers"][0]["command"][-2:] == shows["command"]
    assert PASSWORD not in str(pod)

    refused = scratch.ended(team, "without-variable")["app"]
    assert refused["exitCode"] == 125
    assert refused["message"].startswith(f"the environment: secret/{NAMESPACE}/db has no key 'no")
    assert "remedy: its keys are: " in refused["message"]
    assert PASSWORD not in team.kubectl("logs", "without-variable")
    print("refused:", refused["message"])
    team.kubectl("delete", "pod", "with-variables", "without-variable", "--wait=true")


def test_vaults_own_command_works_without_a_token_and_what_it_was_lent_ends_with_the_pod(
    team: Team, postgres: Postgres, vault_image: None
) -> None:
    address = [{"name": "VAULT_ADDR", "value": "unix:///run/nemutator/agent.sock"}]
    command = {"image": scratch.VAULT_IMAGE, "env": address}
    password = ["kv", "get", "-field=password", f"secret/{NAMESPACE}/db"]
    stays = {"name": "stays", "image": AGENT, "command": ["python", "-c", teams.WAITS]}
    # Longer than the test: the end of its term does not take it away.
    with database_engine(
        team.installation.vault, postgres, DATABASE, term="1h", longest="24h"
    ) as lent:
        user = ["read", "-field=username", lent]
        denied = ["kv", "get", f"secret/{OTHERS}/db"]
        containers = [
            command | {"name": name, "args": args}
            for name, args in (("kv", password), ("lent", user), ("denied", denied))
        ]
        team.installation.cluster.apply(scratch.pod("client", {}, *containers, stays))
        done = scratch.ended(team, "client", beside="stays")
        printed = {name: team.kubectl("logs", "client", name).strip() for name in done}
        codes = {name: state["exitCode"] for name, state in done.items()}
        assert codes == {"kv": 0, "lent": 0, "denied": 2}, printed
        assert printed["kv"] == PASSWORD
        assert "permission denied" in printed["denied"]

        def is_there() -> str:
            return postgres.sql(
                f"SELECT count(*) FROM pg_roles WHERE rolname = '{printed['lent']}'"
            )

        assert is_there() == "1", printed
        team.kubectl("delete", "pod", "client", "--wait=true")
        until(lambda: is_there() == "0", "what was lent is revoked", within_s=REACHED_S)
    print(
        "vault kv get: its secret; denied:", printed["denied"], "lent and revoked:", printed["lent"]
    )


def test_a_pod_of_gvisor_that_must_be_injected_is_refused_by_name(
    team: Team, tmp_path: Path
) -> None:
    cluster = team.installation.cluster
    kind = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass"}
    cluster.apply(kind | {"metadata": {"name": "untrusted"}, "handler": "runsc"})
    pod = scratch.pod("sandboxed", {}, {"name": "app"})
    pod["metadata"]["labels"] = {"nemutator.io/inject": "required"}
    pod["spec"]["runtimeClassName"] = "untrusted"
    file = tmp_path / "pod.json"
    file.write_text(json.dumps(pod))
    refusals: list[str] = []

    def is_refused() -> bool:
        # Let in as any other, until admission has heard of the class.
        try:
            cluster.kubectl("create", "--dry-run=server", "--filename", str(file))
        except KubectlError as error:
            refusals.append(str(error))
        return bool(refusals)

    try:
        until(is_refused, "the pod is refused", within_s=REACHED_S)
    finally:
        cluster.kubectl("delete", "runtimeclass", "untrusted")
    assert "'untrusted', whose handler is 'runsc', is gVisor" in refusals[0]
    print("gvisor:", refusals[0])


def test_an_ephemeral_container_is_its_pod(team: Team, tmp_path: Path) -> None:
    pod = only(team.pods("app"))
    name = pod["metadata"]["name"]
    volume = only([one["name"] for one in pod["spec"]["volumes"] if "csi" in one])
    mount = {"name": volume, "mountPath": str(names.POD_DIRECTORY), "readOnly": True}
    like = {"securityContext": teams.restricted(), "volumeMounts": [mount]}
    custom = tmp_path / "container.json"
    custom.write_text(json.dumps(like))
    team.kubectl(
        "debug", name, "--container=debugger", f"--image={AGENT}", "--image-pull-policy=Never",
        "--profile=restricted", f"--custom={custom}", "--quiet",
        "--", "python", "-c", teams.ASK, "/v1/whoami",
    )  # fmt: skip

    def state() -> Any:
        statuses = team.get("pod", name)["status"].get("ephemeralContainerStatuses", ())
        return next((one["state"].get("terminated") for one in statuses), None)

    until(lambda: state() is not None, "the debugger has ended", within_s=REACHED_S)
    status, _, who = team.kubectl("logs", name, "debugger").partition("\n")
    assert (status, json.loads(who)["uid"]) == ("200", pod["metadata"]["uid"])
    print("ephemeral:", who.strip())


def test_another_pod_is_refused_the_first_ones_secret(team: Team) -> None:
    team.installation.cluster.apply(teams.by_hand("curious"))
    team.kubectl(
        "wait", "pod/curious", "--for=condition=Ready", f"--timeout={READY_S}s", namespace=OTHERS
    )
    refused = team.ask("curious", "/v1/secret/db", namespace=OTHERS)
    assert refused.status == 403
    assert PASSWORD not in refused.body
    print("by Vault:", refused.body)


def test_who_comes_to_a_pods_socket_from_elsewhere_is_refused(team: Team) -> None:
    node = team.installation.node
    uid = only(team.pods("app"))["metadata"]["uid"]
    answer = node.python(ASK_FROM_NODE, node.kubelet_root / PLUGIN, uid)
    status, _, body = answer.partition("\n")
    assert status == "403"
    assert PASSWORD not in body
    print("by identity:", body)


def test_the_sample_is_profiled_by_its_annotation(team: Team) -> None:
    team.installation.cluster.apply(teams.sample())
    ready(team, "sample")
    name = only(team.pods("sample"))["metadata"]["name"]
    # An emulated CPU is at Go's SHA-256 for most of the time, which keeps no frame pointers there.
    seconds = 30 if team.installation.node.emulated else 5
    team.kubectl("annotate", "pod", name, f"nemutator.io/profile=cpu {seconds}s id=first")

    def result() -> str:
        pod = team.get("pod", name)
        return str(pod["metadata"]["annotations"].get("nemutator.io/profile-result", ""))

    until(lambda: '"done"' in result(), f"the profile is done: {result()}", within_s=REACHED_S)
    profile = next(one for one in team.items("profiles") if one["asked_by"] == "annotation")
    where = f"/api/v1/profiles/{profile['id']}"
    folded = team.installation.console(f"{where}/folded", token=team.token).body.decode()
    assert "main.serveVisitors;main.priceBasket" in folded
    page = team.installation.console(f"{where}/flamegraph", token=team.token).body.decode()
    assert "priceBasket" in page
    account = profile["recorded"] / profile["hz"], profile["cpu_seconds"]
    assert sum(profile["lost"].values()) == 0
    print("profile:", result(), "recorded/hz and the cgroup's own CPU seconds:", account)


def test_its_heap_is_read_by_its_annotation(team: Team) -> None:
    name = only(team.pods("sample"))["metadata"]["name"]

    def heaps() -> dict[str, dict[str, Any]]:
        found = (one for one in team.items("profiles") if one["measure"] == "heap")
        return {one["id"]: one for one in found if one["state"] in ("done", "refused")}

    def read() -> str:
        """The stacks of its heap as it is now."""
        before = heaps().keys()
        wish = f"nemutator.io/profile=heap id=heap-{len(before)}"
        team.kubectl("annotate", "pod", name, wish, "--overwrite")
        until(lambda: heaps().keys() - before, "the heap is read", within_s=REACHED_S)
        [profile] = (one for key, one in heaps().items() if key not in before)
        assert profile["state"] == "done", profile
        notes = " ".join(profile["notes"])
        assert re.search(r"shop \(pid \d+\): \d+ goroutines, \d+ garbage collections", notes), notes
        where = f"/api/v1/profiles/{profile['id']}/folded"
        return team.installation.console(where, token=team.token).body.decode()

    # Go notes one allocation of 512 KiB: what leaks is there only after a while.
    leaks = "main.(*sessions).remember"
    until(lambda: leaks in read(), "what leaks is in its heap", within_s=REACHED_S)


def test_it_is_looked_at_unasked_once_it_is_old(team: Team) -> None:
    def windows(kind: str) -> float:
        series = f'nemutator_window_readings_total{{result="done",window="{kind}"}}'
        return team.installation.metric("observe", series)

    def found() -> dict[str, Any] | None:
        mine = [one for one in team.items("ageing") if one["workload"]["owner"] == "sample"]
        return mine[0] if mine else None

    heaps, times = windows("heap"), windows("cpu")
    until(lambda: windows("heap") > heaps, "its heap is read unasked", within_s=REACHED_S)
    until(lambda: windows("cpu") > times, "its CPU time is sampled unasked", within_s=REACHED_S)
    until(lambda: found() is not None, "the brain says how it ages", within_s=REACHED_S)
    ageing = found()
    assert ageing is not None
    assert (ageing["workload"]["namespace"], ageing["workload"]["program"]) == (NAMESPACE, "shop")
    assert ageing["verdict"] in ("cannot tell", "leak", "steady")
    where = f"/api/v1/ageing/{ageing['id']}"
    (series,) = team.installation.console(where, token=team.token).document["series"]
    assert series["heap"]
    assert series["goroutines"]
    print("unasked:", ageing["sentence"], "heap", series["heap"], "windows", windows("cpu"))


def test_its_usage_arrives_and_becomes_advice(team: Team) -> None:
    def advice() -> dict[str, Any] | None:
        mine = [one for one in team.items("advice") if one["owner"] == "sample"]
        return next((one for one in mine if one["container"] == "shop"), None)

    def advised() -> bool:
        found = advice()
        return found is not None and found["state"] != "not_yet"

    until(advised, "there is advice for the sample", within_s=REACHED_S)
    found = advice()
    assert found is not None
    assert (found["namespace"], found["owner_kind"]) == (NAMESPACE, "Deployment")
    assert found["requests"]["cpu"].endswith("m")
    print("advice:", found)


def test_a_mutation_is_taken_back_and_a_foreign_edit_stays(team: Team) -> None:
    pod = only(team.pods("app"))
    name = pod["metadata"]["name"]
    team.kubectl("label", "pod", name, "team=somebody-else", "--overwrite")

    def mutation() -> dict[str, Any] | None:
        stamp = pod["metadata"]["annotations"][MUTATION]
        return next((one for one in team.items("mutations") if one["id"] in stamp), None)

    until(lambda: mutation() is not None, "the decision is in the journal", within_s=REACHED_S)
    found = mutation()
    assert found is not None
    plan = team.installation.nemutator("rollback", found["id"], "--plan", token=team.token)
    assert "metadata.labels[cost-centre]" in plan
    print("plan:", plan)
    where = f"/api/v1/mutations/{found['id']}/rollback"
    done = team.installation.console(f"{where}?plan=false", token=team.token, method="POST")
    assert done.status == 200, done
    print("done:", done.body.decode())
    after = team.get("pod", name)
    assert after["metadata"]["labels"]["team"] == "somebody-else"
    assert "cost-centre" not in after["metadata"]["labels"]
    assert only(after["spec"]["containers"])["resources"]["requests"]["cpu"] == "200m"
    assert after["status"]["containerStatuses"][0]["restartCount"] == 0


def test_the_agents_processes_die_one_by_one_and_the_others_go_on(team: Team) -> None:
    name = only(team.pods("app"))["metadata"]["name"]
    node = team.installation.node
    uid = team.installation.pod_of("agent")["metadata"]["uid"]
    for victim in ("observe", "mount", "credentials"):
        before = team.installation.restarts("agent")
        node.signal(uid, victim, "KILL")
        if victim != "credentials":
            assert team.ask(name, "/v1/secret/db").status == 200
        until(
            functools.partial(died, team, victim, before[victim]),
            f"{victim} is started again",
            within_s=REACHED_S,
        )
        until(lambda: answers(team, name), f"secrets are given after {victim}", within_s=REACHED_S)
        others = {one: count for one, count in before.items() if one != victim}
        assert team.installation.restarts("agent").items() >= others.items()
        print(f"{victim} killed:", team.installation.restarts("agent"))


def died(team: Team, victim: str, before: int) -> bool:
    return team.installation.restarts("agent")[victim] > before


def test_a_sealed_vault_is_said_and_what_is_known_is_still_given(team: Team) -> None:
    name = only(team.pods("app"))["metadata"]["name"]
    vault = team.installation.vault
    assert team.ask(name, "/v1/secret/db").status == 200
    vault.seal()
    try:
        known = team.ask(name, "/v1/secret/db")
        unknown = team.ask("curious", "/v1/secret/db", namespace=OTHERS)
    finally:
        vault.unseal()
    assert known.document["value"] == PASSWORD
    assert unknown.status in (403, 503)
    print("sealed:", unknown.body)


def test_that_it_leaks_stands_on_its_pod_alone(team: Team) -> None:
    name = only(team.pods("sample"))["metadata"]["name"]
    leak = r"shop: leak \(provisional\): .* grows .*MB/min.* in main\.\(\*sessions\)\.remember, .*"

    def mark(pod: str) -> str:
        return str(team.get("pod", pod)["metadata"]["annotations"].get("nemutator.io/ageing", ""))

    until(lambda: re.fullmatch(leak, mark(name)), "the leak stands on its pod", within_s=REACHED_S)
    print("unasked:", mark(name))
    [event] = (one for one in team.get("events")["items"] if one["reason"] == "Ageing")
    assert event["involvedObject"]["name"] == name
    assert re.fullmatch(leak, event["message"])
    # What nobody has found is taken off again.
    other = team.pods("app")[0]["metadata"]["name"]
    team.kubectl("annotate", "pod", other, "nemutator.io/ageing=app: leak")
    until(lambda: not mark(other), "the mark of somebody else is gone", within_s=REACHED_S)


def test_when_the_pod_is_gone_so_is_its_token(team: Team) -> None:
    assert team.vault_tokens()
    print("tokens before:", len(team.vault_tokens()))
    team.kubectl("delete", "deployment", "app", "--wait=true")
    until(lambda: not team.vault_tokens(), "its Vault token is revoked", within_s=REACHED_S)

    def states() -> set[str]:
        return {lease["state"] for lease in team.items("leases") if lease["namespace"] == NAMESPACE}

    until(lambda: states() == {"revoked"}, "the lease is shown as revoked", within_s=REACHED_S)


def test_the_audit_names_every_grant_and_denial_and_no_value(team: Team) -> None:
    answer = team.installation.console("/api/v1/grants?limit=1000", token=team.token)
    assert PASSWORD not in answer.body.decode()
    seen = {(one["operation"], one["result"]) for one in answer.document["items"]}
    assert {
        ("login", "granted"),
        ("read", "granted"),
        ("rotate", "granted"),
        ("signal", "granted"),
        ("revoke", "granted"),
    } <= seen
    assert "denied" in {result for _, result in seen}
    print("audit:", sorted(seen))


def test_who_has_read_a_path_is_answered_by_a_command(team: Team) -> None:
    asked = ("grants", f"--path=secret/{NAMESPACE}/db", "--limit=1000")
    shown = team.installation.nemutator(*asked, token=team.token)
    assert re.search(rf" {NAMESPACE}/app-\S+ +read +granted +db", shown)
    assert re.search(rf" {OTHERS}/curious +read +denied +db", shown)
    print(shown)
    nobody = team.installation.cluster.token(OTHERS, "default")
    with pytest.raises(AssertionError, match="may not get grants"):
        team.installation.nemutator(*asked, token=nobody)


def test_the_console_is_for_those_who_may(team: Team) -> None:
    installation = team.installation
    assert installation.console("/api/v1/topology", token=None).status == 401
    nobody = installation.cluster.token(OTHERS, "default")
    assert installation.console("/api/v1/topology", token=nobody).status == 403
    topology = installation.console("/api/v1/topology", token=team.token).document
    names = {one["labels"].get("name") for node in topology["nodes"] for one in node["workloads"]}
    print("workloads by name:", sorted(filter(None, names))[:12])


def test_no_secret_is_in_any_log(team: Team) -> None:
    cluster = team.installation.cluster
    for component in ("agent", "admission", "brain"):
        name = team.installation.pod_of(component)["metadata"]["name"]
        log = cluster.kubectl("logs", name, f"--namespace={OWN}", "--all-containers", "--tail=-1")
        assert PASSWORD not in log
        assert "hvs." not in log


def test_it_leaves_once_no_pod_has_a_socket_of_it_and_revokes_what_it_was_lent(team: Team) -> None:
    cluster = team.installation.cluster
    waits = teams.deployment("app")
    waits["spec"]["template"]["spec"]["containers"][0]["command"] = ["python", "-c", teams.WAITS]
    cluster.apply(waits)
    ready(team, "app")
    name = only(team.pods("app"))["metadata"]["name"]
    assert team.ask(name, "/v1/secret/db").status == 200
    assert team.vault_tokens()

    planned = uninstalling(cluster, "--dry-run=server")
    assert planned.returncode == 0, planned.stderr
    for way in (
        f"kubectl -n {NAMESPACE} rollout restart deployment/app",
        f"kubectl -n {OTHERS} delete pod/curious",
    ):
        assert way in planned.stderr
    print("in its way:", planned.stderr)
    assert team.ask(name, "/v1/secret/db").status == 200

    team.kubectl("delete", "pod", "curious", "--wait=true", namespace=OTHERS)
    done = uninstalling(cluster, "--restart", "--delete-data", "--delete-definitions")
    assert done.returncode == 0, done.stderr
    print("left:", done.stdout)
    assert not team.vault_tokens()
    volumes = only(team.pods("app"))["spec"]["volumes"]
    assert not [volume for volume in volumes if "csi" in volume]
    for kind in ("csidriver", "crd", "clusterrole", "clusterrolebinding", "namespace"):
        left = cluster.kubectl("get", kind, "--output=name").splitlines()
        assert not [one for one in left if "nemutator" in one]
