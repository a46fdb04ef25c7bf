"""Which Services of a cluster are a Prometheus, or answer its questions: pure.

Known are the charts and operators that people install, by the labels and names that those give. What a Service is
called proves nothing: whoever asks looks first whether it knows containers (`KNOWS`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

FIND = "find"
"""In the place of an address: one is looked for."""

KNOWS = 'count by (namespace) (container_memory_working_set_bytes{container!=""})'
"""What somebody who can say what containers used has an answer to."""

MOST_TRIED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceFacts:
    namespace: str
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[tuple[str, int], ...] = ()
    """Of TCP: name and number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundService:
    product: str
    namespace: str
    name: str
    port: int
    scheme: str
    path: str
    """Before `/api/v1/query`."""

    @property
    def url(self) -> str:
        """As pods reach it."""
        return f"{self.scheme}://{self.name}.{self.namespace}.svc:{self.port}{self.path}"

    def __str__(self) -> str:
        return f"{self.product} {self.namespace}/{self.name}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Product:
    name: str
    called: frozenset[str]
    """The last words of its Service's name, or what its labels call it."""
    parts: frozenset[str] = frozenset()
    """Components that answer questions; what names another one is another part. Empty: it has none."""
    needs_part: bool = False
    port_names: tuple[str, ...]
    ports: tuple[int, ...]
    path: str = ""


_WEB = ("web", "http-web", "http", "https", "https-web")

_PRODUCTS = (
    # Those that answer for several, or for longer, come first.
    _Product(
        name="Thanos",
        called=frozenset({"thanos-querier", "thanos-query", "thanos-query-frontend"}),
        port_names=(*_WEB, "http-query"),
        ports=(9090, 10902, 9091),
    ),
    _Product(
        name="Thanos",
        called=frozenset({"thanos"}),
        parts=frozenset({"query", "query-frontend", "query-layer"}),
        needs_part=True,
        port_names=_WEB,
        ports=(9090, 10902),
    ),
    _Product(
        name="Mimir",
        called=frozenset({"mimir"}),
        parts=frozenset({"query-frontend", "gateway", "nginx"}),
        needs_part=True,
        port_names=("http-metrics", *_WEB),
        ports=(8080, 80),
        path="/prometheus",
    ),
    _Product(
        name="VictoriaMetrics",
        called=frozenset({"vmselect"}),
        port_names=_WEB,
        ports=(8481,),
        path="/select/0/prometheus",
    ),
    _Product(
        name="VictoriaMetrics",
        called=frozenset({"vmsingle", "victoria-metrics-single", "victoria-metrics-single-server"}),
        port_names=_WEB,
        ports=(8428, 8429),
    ),
    _Product(
        name="Prometheus",
        called=frozenset({"prometheus", "prometheus-server", "prometheus-k8s"}),
        parts=frozenset({"prometheus", "server"}),
        port_names=_WEB,
        ports=(9090, 80),
    ),
    # Of the operator, without a head: any of its replicas.
    _Product(
        name="Prometheus",
        called=frozenset({"prometheus-operated"}),
        port_names=_WEB,
        ports=(9090,),
    ),
)

_CALLED_BY = ("app.kubernetes.io/name", "app", "k8s-app")
_PART_BY = ("app.kubernetes.io/component", "component")


def found_among(services: Iterable[ServiceFacts]) -> list[FoundService]:
    """The best first; of equals the order of their names, so that it is the same each time."""
    found: list[tuple[int, bool, str, str, FoundService]] = []
    for service in services:
        for rank, product in enumerate(_PRODUCTS):
            port = _port(product, service) if _is(product, service) else None
            if port is None:
                continue
            far = not any(word in service.namespace for word in ("monitoring", "prometheus"))
            found.append(
                (rank, far, service.namespace, service.name, _found(product, service, port))
            )
            break
    found.sort(key=lambda each: each[:4])
    return [each[-1] for each in found]


def _is(product: _Product, service: ServiceFacts) -> bool:
    part = next((service.labels[key] for key in _PART_BY if key in service.labels), "")
    if product.parts and part and part not in product.parts:
        return False
    if product.needs_part and not part:
        # Charts call the Service after both.
        called = {f"{name}-{each}" for name in product.called for each in product.parts}
        return _ends_with(service.name, called)
    words = {service.labels[key] for key in _CALLED_BY if key in service.labels}
    if not words:
        return _ends_with(service.name, product.called)
    return any(_ends_with(word, product.called) for word in words)


def _ends_with(name: str, words: Iterable[str]) -> bool:
    return any(name == word or name.endswith(f"-{word}") for word in words)


def _port(product: _Product, service: ServiceFacts) -> tuple[str, int] | None:
    for wanted in product.port_names:
        for name, number in service.ports:
            if name == wanted:
                return name, number
    for known in product.ports:
        for name, number in service.ports:
            if number == known:
                return name, number
    return None


def _found(product: _Product, service: ServiceFacts, port: tuple[str, int]) -> FoundService:
    name, number = port
    # OpenShift's querier has TLS on a port that is called web.
    is_secret = name.startswith("https") or number in (443, 8443, 9091)
    return FoundService(
        product=product.name,
        namespace=service.namespace,
        name=service.name,
        port=number,
        scheme="https" if is_secret else "http",
        path=product.path,
    )
