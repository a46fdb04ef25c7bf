"""The minimum of an autoscaler rises before a peak on a real control plane, falls after it, and is taken back.

The brain finds the days that it has saved, as after a restart. A day is some twenty minutes here, and has a peak every
minute; this day is short of its beginning. No pod runs: the Deployment's template says what one requests.
The brain of in_cluster/ must have ended: both would raise the same autoscaler.
"""

import asyncio
import datetime
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from nemutator_controller.scaling.model import KIND
from nemutator_controller.seasons.calendars import SeasonCalendar, zone_offset
from nemutator_controller.seasons.day_book import SavedDay
from nemutator_controller.seasons.sql import SqlSeasonDays

from scripts.crds import FOLDER
from tests.e2e.testbed.in_cluster.installation import Installation, installed, nemutator
from tests.e2e.testbed.workloads import container, replicated
from tests.fakes.databases import opened
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.running.waiting import until

DAYS = 8
PERIOD, BUSY = 4, 3
"""Slots from one peak to the next, and which of them is the peak."""
WITHIN_S = 300
RIGHTS = FOLDER.parent / "scaling" / "scaling.yaml"
MARK = "nemutator.io/raised-minimum"

Json = dict[str, Any]


def young_day(now: float) -> float:
    """The length of a day that has begun less than five minutes ago, so that it does not end meanwhile."""
    return next(float(one) for one in range(1_200, 1_800) if 100 <= now % one <= 300)


@dataclass(frozen=True)
class Scaled:
    brain: Installation
    shop: str
    calendar: SeasonCalendar

    def is_quiet(self, moment: float) -> bool:
        return self.calendar.place(moment).slot % PERIOD != BUSY

    def autoscaler(self) -> Json:
        found: Json = self.brain.cluster.get(
            "hpa", "web", f"-n={self.shop}", "--show-managed-fields"
        )
        return found

    def minimum(self) -> int:
        return int(self.autoscaler()["spec"]["minReplicas"])

    def is_ours(self) -> bool:
        found = self.autoscaler()["metadata"]
        return MARK in found.get("annotations", {})

    def apply(self, minimum: int) -> None:
        """As its owner does, from a manifest, and without force."""
        self.brain.cluster.kubectl(
            "apply", "--server-side", "--field-manager=owner", "-f", "-",
            given=json.dumps(autoscaler(self.shop, minimum)),
        )  # fmt: skip

    def ask(self, path: str, token: str, body: bytes | None = None) -> Json:
        answer = self.brain.ask(self.brain.console, path, token=token, body=body)
        found: Json = answer.json
        return found


def autoscaler(namespace: str, minimum: int) -> Json:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    goal = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "scaleTargetRef": target,
            "minReplicas": minimum,
            "maxReplicas": 10,
            "metrics": [{"type": "Resource", "resource": goal}],
        },
    }


def saved_days(namespace: str, calendar: SeasonCalendar, now: float) -> list[SavedDay]:
    """Of two cores in a peak, and of next to nothing else; all of today is known, too."""
    use = np.where(np.arange(calendar.slots) % PERIOD == BUSY, 2.0, 0.1).astype(np.float16)
    scope = (namespace, "Deployment", "web")
    today = calendar.place(now).day
    return [SavedDay(scope, today - ago, use) for ago in range(DAYS + 1)]


@pytest.fixture
def scaled(cluster: Cluster, tmp_path: Path) -> Iterator[Scaled]:
    (tmp_path / "data").mkdir(mode=0o700)
    for plural in ("mutationpolicies", "seasonpolicies", "forecastscalers"):
        cluster.kubectl("apply", "--server-side", "-f", str(FOLDER / f"{plural}.json"))
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("wait", "--for=condition=Established", crd, "--timeout=60s")
    now = time.time()
    calendar = SeasonCalendar(zone_offset(datetime.UTC), young_day(now))
    with (
        new_namespace(cluster, "scaling") as name,
        new_namespace(cluster, "shop") as shop,
    ):
        with opened(tmp_path / "data" / "nemutator.db") as database:
            days = saved_days(shop, calendar, now)
            asyncio.run(SqlSeasonDays(database).save(days, day_s=calendar.day_s))
        rights = list(yaml.safe_load_all(RIGHTS.read_text()))
        rights[1]["subjects"][0]["namespace"] = name
        deployment = replicated("web", shop, 2)
        asking = container(resources={"requests": {"cpu": "500m"}})
        deployment["spec"]["template"]["spec"]["containers"] = [asking]
        cluster.apply(*rights, deployment)
        with installed(
            cluster, name, tmp_path, NEMUTATOR_BRAIN_SEASON_DAY_S=str(calendar.day_s)
        ) as brain:
            yield Scaled(brain, shop, calendar)
        cluster.kubectl("delete", "clusterrole,clusterrolebinding", "nemutator-brain-scaling")


@pytest.mark.timeout(900)  # some peaks, on a machine that may be busy
def test_a_minimum_rises_before_a_peak_falls_after_it_and_is_taken_back(
    scaled: Scaled, cluster: Cluster, tmp_path: Path
) -> None:
    here = f"-n={scaled.shop}"
    scaled.apply(2)
    spec = {"target": "web", "mode": "Apply", "follow": "Expected", "leadSeconds": 15}
    cluster.apply(
        {
            "apiVersion": "nemutator.io/v1alpha1",
            "kind": KIND,
            "metadata": {"name": "web", "namespace": scaled.shop},
            "spec": spec,
        }
    )
    until(lambda: scaled.minimum() == 8, "the minimum is raised", within_s=WITHIN_S)
    # The autoscaler stays in charge, and follows its minimum.
    until(
        lambda: cluster.get("deployment", "web", here)["spec"]["replicas"] == 8,
        "the autoscaler has scaled it",
        within_s=WITHIN_S,
    )
    cluster.kubectl("patch", "hpa", "web", here, "--patch", '{"spec": {"minReplicas": 3}}')
    until(
        lambda: scaled.minimum() == 3 and not scaled.is_ours(),
        "it is what its owner has said meanwhile",
        within_s=WITHIN_S,
    )

    def is_applied(minimum: int) -> bool:
        try:
            scaled.apply(minimum)
        except KubectlError as error:
            # While it is raised the field is ours.
            if "conflict" not in str(error):
                raise
            return False
        return True

    until(lambda: is_applied(4), "its owner meets no conflict with us", within_s=WITHIN_S)

    cluster.kubectl("create", "serviceaccount", "operator", f"-n={scaled.brain.namespace}")
    cluster.kubectl(
        "create", "clusterrolebinding", f"operator-{scaled.brain.namespace}",
        f"--clusterrole=nemutator-operator-{scaled.brain.namespace}",
        f"--serviceaccount={scaled.brain.namespace}:operator",
    )  # fmt: skip
    token = scaled.brain.token("operator", audience="")
    listed = f"/api/v1/mutations?namespace={scaled.shop}&limit=50"

    def raised_early() -> list[Json]:
        """Raises that were decided before a peak began."""
        found = scaled.ask(listed, token).get("items", [])
        return [one for one in found if scaled.is_quiet(one["at"])]

    until(lambda: bool(raised_early()), "one was in time", within_s=WITHIN_S)
    until(lambda: scaled.minimum() == 8, "it is raised again", within_s=WITHIN_S)
    shown = nemutator(scaled.brain, token, tmp_path, "scalers", "-n", scaled.shop)
    assert f"{scaled.shop}/web" in shown.stdout, shown
    newest = scaled.ask(listed, token)["items"][0]
    back = scaled.ask(f"/api/v1/mutations/{newest['id']}/rollback", token, body=b"")
    assert newest["edits"][0]["before"] == [4], newest
    assert back["state"] == "reversed", back
    assert (scaled.minimum(), scaled.is_ours()) == (4, False)

    def status() -> Json:
        found: Json = cluster.get("forecastscaler", "web", here).get("status", {})
        return found

    def raised_condition() -> tuple[str, str]:
        said = [one for one in status().get("conditions", ()) if one["type"] == "Raised"]
        return (said[0]["status"], said[0]["reason"]) if said else ("", "")

    until(lambda: raised_condition() == ("False", "TakenBack"), "it stays so", within_s=WITHIN_S)
    assert (status()["base"], scaled.minimum()) == (4, 4)
    cluster.kubectl("delete", "clusterrolebinding", f"operator-{scaled.brain.namespace}")
