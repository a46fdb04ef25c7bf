"""A brain's Datadog, from its settings."""

import time
from pathlib import Path

import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.app.usage_source import chosen_source
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.source_learning import SourceLearning
from nemutator_controller.sizing.usages import Usages

from tests.fakes.clocks import ManualClock
from tests.fakes.datadog import FakeDatadog
from tests.fakes.process import fake_process

DAY_S = 86_400
NOW = time.time() // DAY_S * DAY_S
KEYS = {"datadog_api_key_file": "/k1", "datadog_application_key_file": "/k2"}


async def test_a_new_brain_begins_with_what_datadog_knows(tmp_path: Path) -> None:
    fake = FakeDatadog(api_key="a1", application_key="a2")
    tags = {"kube_namespace": "shop", "pod_name": "db-0", "kube_container_name": "db"}
    moments = [NOW - 60.0 * minute for minute in range(1, 2 * 1_440)]
    fake.keep("kubernetes.cpu.usage.total", dict.fromkeys(moments, 0.2e9), **tags)
    fake.keep("kubernetes.memory.working_set", dict.fromkeys(moments, 3e8), **tags)
    fake.keep("kubernetes.containers.running", dict.fromkeys(moments, 1.0), **tags)
    (tmp_path / "k1").write_text("a1\n")
    (tmp_path / "k2").write_text("a2\n")
    process, named, usages = fake_process(clock=ManualClock(NOW)), NamedOwners(), Usages(most=5)
    async with fake.serving():
        settings = BrainSettings(
            datadog=fake.url,
            datadog_api_key_file=str(tmp_path / "k1"),
            datadog_application_key_file=str(tmp_path / "k2"),
            datadog_warm_days=2,
        )
        chosen = chosen_source(settings, process, None, named)
        assert chosen is not None
        assert (chosen.name, chosen.warm_days, chosen.follows) == ("Datadog", 2, False)
        learning = SourceLearning(
            chosen.source, named, usages, process, lambda: True, lambda: 0,
            warm_days=chosen.warm_days, follows=chosen.follows, step_s=300,
        )  # fmt: skip
        await learning.warm()
        # The second time it is not new any more.
        asked = len(fake.asked)
        await learning.warm()
        assert len(fake.asked) == asked
    (seen,) = usages.seen(usages.keys(), now=NOW)
    assert seen.key == ContainerKey("shop", "StatefulSet", "db", "db")
    assert (seen.memory_max, round(seen.observed_s / DAY_S, 1)) == (300_000_000, 2.0)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"datadog": "datadoghq.eu"}, "an API key and an application key"),
        ({"datadog": "http://example.org", **KEYS}, "readable by everybody"),
        ({"datadog": "datadoghq.eu", "prometheus": "http://p", **KEYS}, "learned twice"),
    ],
)
def test_settings_that_contradict_themselves_are_refused(
    settings: dict[str, str], said: str
) -> None:
    with pytest.raises(OperatorError, match=said):
        chosen_source(BrainSettings(**settings), fake_process(), None, NamedOwners())  # type: ignore[arg-type]


def test_a_prometheus_that_is_asked_for_history_alone_stands_beside_it() -> None:
    settings = BrainSettings(
        datadog="datadoghq.eu",
        prometheus="http://p",
        prometheus_warm_days=0,
        **KEYS,  # type: ignore[arg-type]
    )
    chosen = chosen_source(settings, fake_process(), None, NamedOwners())
    assert chosen is not None
    assert chosen.name == "Datadog"
    assert chosen_source(BrainSettings(), fake_process(), None, NamedOwners()) is None
