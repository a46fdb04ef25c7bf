"""The settings of the brain and of admission."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nemutator_common import names
from nemutator_common.on_rotate import RESTART
from nemutator_common.settings import ServesMetrics, between, setting
from nemutator_common.shipping.settings import CallsBrain

from nemutator_controller.prometheus_services import FIND
from nemutator_controller.setting_checks import (
    absolute_path,
    cluster_name,
    database_url,
    dns_label,
    header,
    host_names,
    label_pairs,
    listening,
    loopback,
    redis_url,
    some_of,
    time_zone,
    web_address,
    web_address_or,
    web_address_or_host,
)

EXPORTS = frozenset({"usage", "advice", "workloads", "nodes", "mutations"})
"""What can be written into a bucket for other programs."""


def _separate(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainSettings(ServesMetrics):
    role: ClassVar[str] = names.BRAIN

    console: str = setting(
        "127.0.0.1:8420",
        "Address of the console; port 0 is any free one. It is plain HTTP, so only loopback.",
        check=loopback,
    )
    audit_key_file: str = setting(
        "",
        "File with the key of the installation for digests of paths in audit records: with it, "
        "`/api/v1/grants?path=` says who read a path.",
    )
    stale_after_s: float = setting(
        15.0,
        "Seconds without a report after which a node is shown as stale.",
        check=between(1, 86_400),
    )
    most_nodes: int = setting(
        5_000,
        "Nodes that may report. One more takes the place of one that is silent for 10 minutes, or is refused.",
        check=between(1, 20_000),
    )
    reports_per_s: float = setting(
        25.0,
        "Reports per second that all nodes together should send; each costs 2 to 5 ms of CPU. With"
        " more nodes, each of them is asked for fewer, down to one in 60 s; then a node is shown as"
        " stale only when three of its reports are missing.",
        check=between(1, 1_000),
    )
    restarts_per_minute: float = setting(
        10.0,
        "Pods per minute that are evicted because their secrets have changed and their annotation"
        f" `{names.ON_ROTATE}` is `{RESTART}`.",
        check=between(0.1, 1_000),
    )
    evictions_per_minute: int = setting(
        30,
        "Pods per minute that are evicted because people asked for it (`nemutator evict`), all together.",
        check=between(1, 1_000),
    )
    evictions_per_node: int = setting(
        5, "The same of one node, in any minute.", check=between(1, 1_000)
    )
    evictions_per_workload: int = setting(
        1,
        "Pods of one workload that may be away because of such evictions: the next one goes when as many"
        " are ready again.",
        check=between(1, 1_000),
    )
    live_writes_per_minute: float = setting(
        60.0,
        "Running pods per minute whose labels and annotations are changed by policies with `applyTo: live`.",
        check=between(1, 6_000),
    )
    extender: str = setting(
        "",
        "Address on which schedulers ask for scores of nodes, such as `0.0.0.0:8423`; empty: none. HTTPS, with the"
        " brain's own certificate.",
        check=listening,
    )
    extender_client_ca: str = setting(
        "",
        "PEM file of the authority that signs the certificates of schedulers; empty: whoever reaches that address is"
        " answered.",
    )
    neighbour_labels: bool = setting(
        True,
        "Whether the worst victims and aggressors of the cluster bear their grades as labels, and the workloads"
        " that they belong to.",
    )
    neighbour_share: float = setting(
        0.5,
        "How many of each bear labels, as a share of the number of nodes; at least three.",
        check=between(0, 110),
    )
    neighbour_minute_s: float = setting(
        60.0,
        "Seconds of a minute where neighbours and the pressure of nodes are found. Less is a compressed one, to see in minutes what otherwise"
        " takes the better part of an hour; agents have to report as often (`observe.summary_s`).",
        check=between(2, 60),
    )
    unit_folder: str = setting(
        "/etc/systemd/system",
        "Folder of systemd in which `nemutator size` writes drop-ins. `/run/systemd/system` forgets them at the next"
        " boot, of which the journal does not hear.",
        check=absolute_path,
    )
    resizes_per_minute: float = setting(
        30.0,
        "Running pods per minute that are resized by SizingPolicies, all policies together.",
        check=between(1, 6_000),
    )
    season_zone: str = setting(
        "UTC",
        "Time zone by whose clocks days begin where seasons are found, like Europe/Berlin.",
        check=time_zone,
    )
    season_day_s: float = setting(
        86_400.0,
        "Seconds of a day where seasons are found. Less is a compressed day, to see seasons come and go within"
        " minutes; no zone shifts it.",
        check=between(120, 86_400),
    )
    season_lead_s: float = setting(
        900.0,
        "Seconds before a peak that are pre-peak: what workloads need to be ready. Of a compressed day a part as"
        " large.",
        check=between(60, 14_400),
    )
    pressure_taints: bool = setting(
        False,
        f"Whether nodes bear the taint `{names.PRESSURE}`, PreferNoSchedule, with the grade of their pressure.",
    )
    placement_labels: bool = setting(
        False,
        f"Whether nodes bear the label `{names.PLACEMENT_GRADE}`, for affinity that policies add.",
    )
    reserve_nodes: str = setting(
        "",
        f"Labels of nodes that bear the taint `{names.RESERVE}`, NoSchedule, unless a SeasonPolicy in force says"
        " `reserve: Open`, like `pool=reserve`; empty: none.",
        check=label_pairs,
    )
    buffer_pods: int = setting(
        0,
        "Most pods of low priority that keep room free while a SeasonPolicy with `buffer` is in force; 0: none, and"
        " nothing is scaled.",
        check=between(0, 1_000),
    )
    packing_nodes: int = setting(
        0,
        "Most nodes that are emptied, or empty and named removable, at once while a SeasonPolicy in force says"
        " `placement: Pack`; 0: none, and no pod is moved.",
        check=between(0, 1_000),
    )
    season_workloads: int = setting(
        5_000,
        "Workloads whose use is kept by day to find their seasons, 13 KB each for three weeks. One more takes the"
        " place of one that is silent since a day, or is not kept.",
        check=between(10, 100_000),
    )
    history_s: float = setting(
        86_400.0, "Seconds of history that are kept.", check=between(600, 366 * 86_400)
    )
    history_points: int = setting(
        500_000,
        "Points of history that are kept, of all nodes together.",
        check=between(1_000, 100_000_000),
    )
    journal_s: float = setting(
        90 * 86_400.0,
        "Seconds that a mutation stays in the journal, and can be taken back by its id.",
        check=between(3_600, 3660 * 86_400),
    )
    journal_decisions: int = setting(
        100_000, "Mutations that the journal keeps.", check=between(100, 10_000_000)
    )
    database: str = setting(
        "",
        "PostgreSQL with all records, as `postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full`, for"
        " several brains; empty: an SQLite file in the data directory, for one.",
        check=database_url,
    )
    cluster_name: str = setting(
        "",
        "Name of this cluster among several on one PostgreSQL, up to 40 letters, digits and dashes: all that it"
        " keeps is under it, and each shows the others. Empty: a database for one cluster.",
        check=cluster_name,
    )
    database_password_file: str = setting(
        "",
        "File with the password for PostgreSQL; it is read anew for each connection. Empty: what the"
        " variable PGPASSWORD says, or none.",
    )
    database_bytes: int = setting(
        256 << 20,
        "Largest size of the file of SQLite; when it is reached the oldest history makes room.",
        check=between(1 << 20, 1 << 40),
    )
    sized_containers: int = setting(
        10_000,
        "Containers whose use is remembered for advice; further ones wait until one of these has not"
        " been reported for an hour.",
        check=between(1, 1_000_000),
    )
    advice_cpu_percentile: float = setting(
        95.0, "Percentile of CPU use that is advised to request.", check=between(1.0, 100.0)
    )
    advice_memory_buffer: float = setting(
        18.0,
        "Percent above the largest peak of memory that is advised with two weeks of data; with less it is"
        " more, up to 17 times as much.",
        check=between(0.0, 1_000.0),
    )
    advice_least_cpu_millis: int = setting(
        10, "The least CPU that is advised, in thousandths of a core.", check=between(1, 1_000_000)
    )
    advice_least_memory_mb: int = setting(
        100,
        "The least memory that is advised, in units of 1 000 000 bytes.",
        check=between(1, 1_000_000),
    )
    advice_window_days: int = setting(
        14, "Days of which peaks of memory count.", check=between(1, 14)
    )
    history_containers: int = setting(
        10_000,
        "Containers of whose use a history is kept; each takes up to 10 KB of memory, and 3 KB more for"
        " each further figure that is reported. Further ones wait until one of these has not been"
        " reported for an hour.",
        check=between(1, 1_000_000),
    )
    remote_write: str = setting(
        "",
        "Where each minute of history is sent by Prometheus remote write 1.0, like"
        " `https://prometheus:9090/api/v1/write` or `https://mimir/api/v1/push`; empty: nowhere.",
        check=web_address,
    )
    remote_write_token_file: str = setting(
        "", "File with the bearer token that it asks for; read each minute."
    )
    remote_write_user: str = setting("", "User that it asks for, where it wants a password.")
    remote_write_password_file: str = setting(
        "", "File with the password of that user; read each minute."
    )
    remote_write_tenant: str = setting(
        "", "Tenant there (`X-Scope-OrgID`), where it has several.", check=header
    )
    remote_write_ca_file: str = setting(
        "", "PEM file with who signs its certificate; empty: the authorities of the system."
    )
    remote_write_certificate_file: str = setting(
        "", "PEM file with a certificate of ours, where it asks for one."
    )
    remote_write_key_file: str = setting("", "PEM file with the key of that certificate.")
    remote_write_cluster: str = setting(
        "",
        "Value of a label `cluster` of all series, where several clusters write there.",
        check=header,
    )
    prometheus: str = setting(
        "",
        "Prometheus that is asked for history which is older than the brain's own, and for what containers used"
        " before it began, like `https://prometheus:9090` or `https://mimir/prometheus`; `find`: one that is found"
        " among the cluster's Services; empty: none.",
        check=web_address_or(FIND),
    )
    prometheus_namespaces: str = setting(
        "monitoring,*-monitoring,*-monitoring-system,observability,prometheus*,thanos*,mimir*,victoria*,vm",
        "Where `find` looks for a Prometheus: globs with commas between. Who may make Services there can say what"
        " containers of the whole cluster used.",
    )
    prometheus_token_file: str = setting(
        "", "File with the bearer token that it asks for; read each minute."
    )
    prometheus_user: str = setting("", "User that it asks for, where it wants a password.")
    prometheus_password_file: str = setting(
        "", "File with the password of that user; read each minute."
    )
    prometheus_tenant: str = setting(
        "", "Tenant there (`X-Scope-OrgID`), where it has several.", check=header
    )
    prometheus_ca_file: str = setting(
        "", "PEM file with who signs its certificate; empty: the authorities of the system."
    )
    prometheus_certificate_file: str = setting(
        "", "PEM file with our certificate for it, where it asks for one."
    )
    prometheus_key_file: str = setting("", "PEM file with the key of that certificate.")
    prometheus_warm_days: int = setting(
        8,
        "Days of which a new brain learns from that Prometheus what containers used; 0: none.",
        check=between(0, 14),
    )
    prometheus_usage: bool = setting(
        False,
        "Learn from that Prometheus what containers use, of those that no agent reports.",
    )
    datadog: str = setting(
        "",
        "Datadog that is asked for what containers used before the brain began: its site, like `datadoghq.eu`, or an"
        " address; empty: none.",
        check=web_address_or_host,
    )
    datadog_api_key_file: str = setting("", "File with the API key for it; read each minute.")
    datadog_application_key_file: str = setting(
        "",
        "File with the application key for it, which needs the right `timeseries_query` alone; read each minute.",
    )
    datadog_cluster: str = setting(
        "",
        "What this cluster is called there (the tag `kube_cluster_name`); empty: all that it knows is of this one.",
        check=header,
    )
    datadog_warm_days: int = setting(
        8,
        "Days of which a new brain learns from Datadog what containers used; 0: none.",
        check=between(0, 14),
    )
    datadog_usage: bool = setting(
        False, "Learn from Datadog what containers use, of those that no agent reports."
    )
    profiles: int = setting(
        500,
        "Finished profiles that are kept; the oldest are dropped for new ones.",
        check=between(1, 100_000),
    )
    profile_bytes: int = setting(
        64 << 20,
        "Bytes of all finished profiles in the database; the oldest are dropped for new ones.",
        check=between(1 << 20, 1 << 40),
    )
    objects: str = setting(
        "",
        "Bucket that speaks S3 (AWS, MinIO, Ceph, Garage), for contents of profiles and exports, as"
        " `https://HOST/BUCKET` or `https://HOST/BUCKET/PREFIX`; empty: the database has them.",
        check=web_address,
    )
    objects_region: str = setting("us-east-1", "Region that it is in.", check=header)
    objects_access_key: str = setting("", "Name of the key by which we use it.", check=header)
    objects_secret_key_file: str = setting(
        "", "File with the secret of that key; read each minute."
    )
    objects_ca_file: str = setting(
        "", "PEM file with who signs its certificate; empty: the authorities of the system."
    )
    exports: str = setting(
        "",
        "What is written into that bucket for other programs, a file of each for each hour: some of `usage` (five"
        " minutes of each container, CSV), `advice`, `workloads`, `nodes` and `mutations` (lines of JSON), with"
        " commas between; empty: nothing.",
        check=some_of(EXPORTS),
    )
    exports_days: int = setting(
        90,
        "Days after which such a file is removed again; 0: never.",
        check=between(0, 3_650),
    )
    pyroscope: str = setting(
        "",
        "Pyroscope to which each finished profile is sent, like `https://pyroscope:4040`; empty: none.",
        check=web_address,
    )
    pyroscope_token_file: str = setting(
        "", "File with the token that Pyroscope, or a proxy before it, asks for; read each minute."
    )
    pyroscope_tenant: str = setting(
        "", "Tenant in Pyroscope (`X-Scope-OrgID`), where it has several.", check=header
    )
    parca: str = setting(
        "",
        "Parca to which each finished profile is sent, like `https://parca:7070`; empty: none.",
        check=web_address,
    )
    parca_token_file: str = setting(
        "", "File with the token that Parca, or a proxy before it, asks for; read each minute."
    )
    push_ca_file: str = setting(
        "",
        "PEM file with who signs the certificates of those two; empty: the authorities of the system.",
    )
    windows_s: float = setting(
        14 * 86_400.0,
        "Seconds for which readings of quiet windows are kept, of which verdicts on ageing are made.",
        check=between(3_600, 366 * 86_400),
    )
    window_bytes: int = setting(
        256 << 20,
        "Bytes of all readings of quiet windows in the database; the oldest are dropped for new ones.",
        check=between(1 << 20, 1 << 40),
    )
    ageing_after_s: float = setting(
        150.0,
        "Seconds for which a process must have been read before a provisional verdict on its ageing.",
        check=between(1, 86_400),
    )
    window_namespaces: str = setting(
        "",
        "Namespaces whose pods quiet windows may look at, with commas between; empty: all.",
    )
    window_selector: str = setting(
        "",
        "Label selector of the pods that quiet windows may look at, like `tier in (a,b)`; empty: all.",
    )
    tokens_file: str = setting(
        "",
        "JSON file with tokens for placeholders; empty: off clusters `tokens.json` in the data directory,"
        " in a cluster none.",
    )
    tokens_redis: str = setting(
        "",
        "Redis with tokens for placeholders, as `redis://HOST:6379/0`, or `rediss://` for TLS; it counts"
        " in place of `tokens_file`.",
        check=redis_url,
    )
    tokens_redis_user: str = setting("", "User of Redis; empty: the default one.")
    tokens_redis_password_file: str = setting(
        "", "File with the password for Redis; it is read anew for each connection. Empty: none."
    )
    tokens_redis_ca: str = setting(
        "", "PEM file with the authority of Redis' certificate; empty: those of this machine."
    )
    cluster: bool = setting(
        False,
        "Run in a pod of a Kubernetes cluster: agents and people call over TLS, and the API server"
        " says who they are and what they may do.",
    )
    namespace: str = setting(
        "nemutator", "Namespace of this installation in a cluster.", check=dns_label
    )
    uplink: str = setting(
        "0.0.0.0:8421",
        "Address for agents and admission in a cluster, over TLS with a certificate of our own.",
        check=listening,
    )
    cluster_console: str = setting(
        "0.0.0.0:8420", "Address of the console in a cluster, over TLS.", check=listening
    )
    image_registries: str = setting(
        "",
        "Registries in which the brain may look up what an image starts, with commas between, like"
        " `docker.io, registry.example:5000`, so that containers without a `command` get their pod's"
        " variables, and which digest a tag names, so that policies can pin it; with `http://` before one that speaks plain HTTP. Empty: none is asked.",
    )
    image_registry_ca: str = setting(
        "",
        "PEM file with authorities of registries' certificates, beside those of the system.",
    )
    image_pull_secret_file: str = setting(
        "",
        "File with passwords for those registries, as `imagePullSecrets` and Docker have them"
        " (`.dockerconfigjson`); read each minute. Empty: only what everybody may pull is read.",
    )
    image_refresh_s: float = setting(
        900.0,
        "Seconds after which the image of a tag is looked at again.",
        check=between(30, 7 * 86_400),
    )
    server_names: str = setting(
        "localhost",
        "Further names and addresses that the brain's certificate is for, with commas between: "
        "`localhost` is for `kubectl port-forward`.",
        check=host_names,
    )
    agent_account: str = setting(
        "nemutator-agent", "Service account of the agents, in the same namespace.", check=dns_label
    )
    admission_account: str = setting(
        "nemutator-admission",
        "Service account of admission, in the same namespace.",
        check=dns_label,
    )
    service_account: Path = setting(
        Path("/var/run/secrets/kubernetes.io/serviceaccount"),
        "Directory with the token and the CA of this pod's service account, in a cluster.",
    )
    session_s: float = setting(
        43_200.0,
        "Seconds for which a browser may use the console after it has opened a link.",
        check=between(60, 30 * 86_400),
    )

    @property
    def chosen_namespaces(self) -> tuple[str, ...]:
        """The names in `window_namespaces`."""
        return _separate(self.window_namespaces)

    @property
    def further_names(self) -> tuple[str, ...]:
        """The names in `server_names`."""
        return _separate(self.server_names)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionSettings(CallsBrain):
    """The settings of `nemutator-controller admission`."""

    role: ClassVar[str] = names.ADMISSION

    address: str = setting(
        "127.0.0.1:8443",
        "Address for the API server, over TLS; in a pod `0.0.0.0:8443`.",
        check=listening,
    )
    tls_certificate: Path = setting(
        Path("/var/run/nemutator-tls/tls.crt"),
        "Certificate of the webhook, PEM; it is loaded again when the file changes.",
    )
    tls_key: Path = setting(
        Path("/var/run/nemutator-tls/tls.key"), "Private key of the webhook's certificate, PEM."
    )
    client_ca: str = setting(
        "",
        "PEM file with the authority of the API server's client certificate: only callers with a"
        " certificate of it get a connection. Empty: anybody who reaches the port may ask, and have"
        " forged decisions recorded.",
    )
    client_names: str = setting(
        "",
        "Common names, or DNS, URI or IP alternative names, with commas between: only callers whose"
        " certificate has one of them are answered. Empty: all with a certificate of `client_ca`.",
    )
    service_account: Path = setting(
        Path("/var/run/secrets/kubernetes.io/serviceaccount"),
        "Directory with the token and the CA of this pod's service account, as kubelet mounts it.",
    )
    namespace: str = setting(
        "nemutator", "Namespace in which nemutator itself runs: its pods are never changed."
    )
    init_image: str = setting(
        "", "Image of the agent, for the init container; empty: nothing is injected."
    )
    writer: str = setting(
        "", "Name under which decisions are sent to the brain; empty: the host name."
    )
    strict: bool = setting(
        False, "Respond only when the record of a change is on the disk, not just in its cache."
    )
    siblings: str = setting(
        "",
        "Directory in which the processes that share `address` tell each other of pods that are being made;"
        " with it several may listen there, to use several cores. Each has its own data directory. Empty: one"
        " process alone.",
    )
    spool_bytes: int = setting(
        64 << 20,
        "Most bytes of decisions that wait for the brain; with more, pods are left unchanged.",
        check=between(1 << 20, 1 << 34),
    )

    @property
    def allowed_clients(self) -> frozenset[str]:
        """The names in `client_names`; empty: all."""
        return frozenset(_separate(self.client_names))
