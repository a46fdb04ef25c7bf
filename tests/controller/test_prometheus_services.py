import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.prometheus_services import ServiceFacts, found_among

CHART = {"app.kubernetes.io/name": "prometheus", "app.kubernetes.io/component": "server"}


def service(
    name: str, *ports: tuple[str, int], namespace: str = "monitoring", **labels: str
) -> ServiceFacts:
    return ServiceFacts(namespace=namespace, name=name, labels=labels, ports=ports)


@pytest.mark.parametrize(
    ("one", "found"),
    [
        # The operator's, its chart's, the community's chart, kube-prometheus.
        (
            service("prometheus-operated", ("web", 9090), **{"operated-prometheus": "true"}),
            "http://prometheus-operated.monitoring.svc:9090",
        ),
        (
            service(
                "kps-kube-prometheus-stack-prometheus",
                ("http-web", 9090),
                ("reloader-web", 8080),
                app="kube-prometheus-stack-prometheus",
            ),
            "http://kps-kube-prometheus-stack-prometheus.monitoring.svc:9090",
        ),
        (
            service("r-prometheus-server", ("http", 80), **CHART),
            "http://r-prometheus-server.monitoring.svc:80",
        ),
        (
            service(
                "prometheus-k8s",
                ("web", 9090),
                **{
                    "app.kubernetes.io/name": "prometheus",
                    "app.kubernetes.io/component": "prometheus",
                },
            ),
            "http://prometheus-k8s.monitoring.svc:9090",
        ),
        (service("prometheus", ("", 9090)), "http://prometheus.monitoring.svc:9090"),
        (
            service("thanos-querier", ("web", 9091), ("tenancy", 9092)),
            "https://thanos-querier.monitoring.svc:9091",
        ),
        (
            service(
                "thanos-query-frontend",
                ("http", 9090),
                **{
                    "app.kubernetes.io/name": "thanos",
                    "app.kubernetes.io/component": "query-frontend",
                },
            ),
            "http://thanos-query-frontend.monitoring.svc:9090",
        ),
        (
            service(
                "mimir-query-frontend",
                ("http-metrics", 8080),
                ("grpc", 9095),
                **{
                    "app.kubernetes.io/name": "mimir",
                    "app.kubernetes.io/component": "query-frontend",
                },
            ),
            "http://mimir-query-frontend.monitoring.svc:8080/prometheus",
        ),
        (
            service("vmselect-main", ("http", 8481), **{"app.kubernetes.io/name": "vmselect"}),
            "http://vmselect-main.monitoring.svc:8481/select/0/prometheus",
        ),
        (
            service("vmsingle-main", ("http", 8429), **{"app.kubernetes.io/name": "vmsingle"}),
            "http://vmsingle-main.monitoring.svc:8429",
        ),
    ],
)
def test_what_people_install_is_known(one: ServiceFacts, found: str) -> None:
    assert [each.url for each in found_among([one])] == [found]


@pytest.mark.parametrize(
    "one",
    [
        service("alertmanager", ("web", 9093), **CHART | {"app.kubernetes.io/component": "alertmanager"}),
        service("kps-prometheus-node-exporter", ("http-metrics", 9100), app="prometheus-node-exporter"),
        service("prometheus-operator", ("https", 443), app="kube-prometheus-stack-operator"),
        service("prometheus-adapter", ("https", 443), **{"app.kubernetes.io/name": "prometheus-adapter"}),
        service("kps-thanos-discovery", ("grpc", 10901), app="kps-thanos-discovery"),
        service("mimir-ingester", ("http-metrics", 8080),
                **{"app.kubernetes.io/name": "mimir", "app.kubernetes.io/component": "ingester"}),
        service("prometheus", ("grpc", 10901)),
        service("prometheus"),
        service("shop", ("web", 9090)),
    ],
)  # fmt: skip
def test_other_parts_of_them_and_others_are_not_asked(one: ServiceFacts) -> None:
    assert found_among([one]) == []


def test_who_answers_for_several_comes_first_and_then_who_is_where_monitoring_is() -> None:
    several = [
        service("prometheus", ("web", 9090), namespace="team"),
        service("prometheus-operated", ("web", 9090)),
        service("prometheus", ("web", 9090)),
        service("thanos-query", ("http", 9090), namespace="zz"),
    ]
    assert [str(each) for each in found_among(several)] == [
        "Thanos zz/thanos-query:9090",
        "Prometheus monitoring/prometheus:9090",
        "Prometheus team/prometheus:9090",
        "Prometheus monitoring/prometheus-operated:9090",
    ]


words = st.sampled_from(["prometheus", "thanos", "query", "mimir", "web", "server", "", "x-y"])
facts = st.builds(
    ServiceFacts,
    namespace=words,
    name=st.lists(words, max_size=3).map("-".join),
    labels=st.dictionaries(st.sampled_from(["app", "component", "app.kubernetes.io/name"]), words),
    ports=st.lists(st.tuples(words, st.integers(1, 65_535)), max_size=3).map(tuple),
)


@given(st.lists(facts, max_size=6), st.randoms())
def test_the_order_of_services_says_nothing(services: list[ServiceFacts], dice: object) -> None:
    found = found_among(services)
    assert len(found) <= len(services)
    known = {(each.namespace, each.name, number) for each in services for _, number in each.ports}
    assert {(each.namespace, each.name, each.port) for each in found} <= known
    keys = {(each.namespace, each.name) for each in services}
    if len(keys) == len(services):
        assert found_among(reversed(services)) == found
