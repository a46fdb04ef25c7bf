"""What the pods of a workload look like: drawn once for each workload, as uneven as real ones."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

APPS = ("checkout", "catalog", "search", "ledger", "gateway", "mailer", "ranking", "session")
TEAMS = ("payments", "shop", "platform", "data")
CPU_MILLIS = (50, 100, 100, 250, 500, 1000, 2000)
MEMORY_MIB = (64, 128, 256, 256, 512, 1024, 4096)
PORT = 8080


@dataclass(frozen=True, slots=True)
class Container:
    name: str
    image: str
    cpu_millis: int
    memory_mib: int
    cpu_limited: bool
    """Many owners limit memory and leave CPU alone."""
    variables: int
    probed: bool


@dataclass(frozen=True, slots=True)
class Shape:
    app: str
    team: str
    version: str
    containers: tuple[Container, ...]

    @property
    def quality(self) -> str:
        """The class that the API server gives such a pod."""
        equal = all(container.cpu_limited for container in self.containers)
        return "Guaranteed" if equal else "Burstable"


def drawn(dice: random.Random) -> Shape:
    app = dice.choice(APPS)
    version = f"v{dice.randrange(1, 9)}.{dice.randrange(40)}.{dice.randrange(20)}"
    main = _container(dice, "app", f"registry.test/{app}:{version}", probed=True)
    side = _container(dice, "proxy", "registry.test/mesh/proxy:v1.20.1", probed=False)
    both = (main, side) if dice.random() < 0.2 else (main,)
    return Shape(app, dice.choice(TEAMS), version, both)


def _container(dice: random.Random, name: str, image: str, *, probed: bool) -> Container:
    return Container(
        name=name,
        image=image,
        cpu_millis=dice.choice(CPU_MILLIS),
        memory_mib=dice.choice(MEMORY_MIB),
        cpu_limited=dice.random() < 0.4,
        variables=dice.randrange(4),
        probed=probed,
    )


def labels(shape: Shape) -> dict[str, str]:
    return {"team": shape.team, "app.kubernetes.io/version": shape.version}


def annotations() -> dict[str, str]:
    return {"prometheus.io/scrape": "true"}


def pod_spec(shape: Shape) -> Json:
    return {
        "containers": [_rendered(container) for container in shape.containers],
        # Each would have the API server add to every pod what no hollow pod looks at.
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
    }


def _rendered(container: Container) -> Json:
    requests = {"cpu": f"{container.cpu_millis}m", "memory": f"{container.memory_mib}Mi"}
    limits = requests if container.cpu_limited else {"memory": requests["memory"]}
    probe = {"httpGet": {"path": "/healthz", "port": PORT}, "periodSeconds": 5}
    probes: Json = {"readinessProbe": probe} if container.probed else {}
    return {
        "name": container.name,
        "image": container.image,
        "resources": {"requests": requests, "limits": limits},
        **({"env": _variables(container)} if container.variables else {}),
        **probes,
    }


def _variables(container: Container) -> Sequence[Json]:
    return [
        {"name": f"{container.name.upper()}_OPTION_{number}", "value": f"value-{number}"}
        for number in range(container.variables)
    ]
