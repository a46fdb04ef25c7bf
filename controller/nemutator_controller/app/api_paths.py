"""Every path of the API, with what it is for: what `/api/v1/openapi.json` says."""

from typing import Any

from nemutator_controller.app import api_shapes as shapes
from nemutator_controller.app.api_change_paths import CHANGE_PATHS
from nemutator_controller.cluster.topology import Topology
from nemutator_controller.console.open_api import (
    CONTINUE,
    LABELS,
    LIMIT,
    MOMENTS,
    NAME,
    NAMESPACE,
    PAGED,
    VIEW,
    WORKLOAD,
    QueryWord,
    asked,
    posted,
)
from nemutator_controller.history.documents import HistoryRows, WorkloadHistory
from nemutator_controller.inventory.deploys import DeployList
from nemutator_controller.inventory.documents import WorkloadList
from nemutator_controller.inventory.fleet.published import ClusterList
from nemutator_controller.inventory.node_documents import InventoryNodeList
from nemutator_controller.profiles.api_requests import ProfileQuestion
from nemutator_controller.sizing.documents import AdviceList
from nemutator_controller.sizing.histogram_documents import UseHistogramList
from nemutator_controller.usage.history import MachineSeries

HTML, TEXT, PPROF = "text/html", "text/plain", "application/octet-stream"


PATHS = (
    asked("openapi.json", "topology", "This document.", dict[str, Any], narrows=True),
    # What there is.
    asked(
        "topology",
        "topology",
        "What runs on nodes, and what it uses.",
        Topology,
        QueryWord("node", str, "Of this node alone."),
        NAMESPACE,
        LABELS,
        LIMIT,
        CONTINUE,
    ),
    asked(
        "nodes",
        "topology",
        "Nodes: what they can take, and what is taken.",
        InventoryNodeList,
        *PAGED[1:],
    ),
    asked(
        "workloads",
        "workloads",
        "Workloads: what they request, use and waste.",
        shapes.WORKLOADS,
        VIEW,
        *PAGED,
        narrows=True,
    ),
    asked("clusters", "clusters", "Clusters on this database, and their totals.", ClusterList),
    asked(
        "clusters/{cluster}/nodes",
        "clusters",
        "Nodes of another cluster, as it has published them.",
        InventoryNodeList,
        *PAGED[1:],
    ),
    asked(
        "clusters/{cluster}/workloads",
        "clusters",
        "Workloads of another cluster, as it has published them.",
        WorkloadList,
        *PAGED,
    ),
    asked(
        "clusters/{cluster}/history/workloads",
        "clusters",
        "What there is a history of in another cluster.",
        HistoryRows,
        NAMESPACE,
        NAME,
        LIMIT,
    ),
    asked(
        "clusters/{cluster}/workloads/{namespace}/{kind}/{name}/history",
        "clusters",
        "What a workload of another cluster used, as its brain has saved it.",
        WorkloadHistory,
        *MOMENTS,
    ),
    asked(
        "deploys",
        "workloads",
        "When workloads got a new version, the newest first.",
        DeployList,
        NAMESPACE,
        WORKLOAD,
        QueryWord("since", float, "Seconds since 1970."),
        LIMIT,
        narrows=True,
    ),
    asked(
        "flows",
        "flows",
        "Who talks to whom.",
        shapes.FLOWS,
        VIEW,
        NAMESPACE,
        LIMIT,
        CONTINUE,
        narrows=True,
    ),
    asked(
        "history",
        "topology",
        "What a machine used.",
        MachineSeries,
        QueryWord("node", str, "Which machine.", required=True),
        QueryWord("since_s", float, "How far back, in seconds."),
    ),
    asked(
        "history/workloads",
        "topology",
        "What there is a history of.",
        HistoryRows,
        NAMESPACE,
        NAME,
        LIMIT,
        narrows=True,
    ),
    asked(
        "workloads/{namespace}/{kind}/{name}/history",
        "topology",
        "What a workload used, and its usual week.",
        WorkloadHistory,
        *MOMENTS,
        narrows=True,
    ),
    # Advice, and what follows it.
    asked(
        "advice", "advice", "What containers should request.", AdviceList, NAMESPACE, narrows=True
    ),
    asked(
        "advice/histograms",
        "advice",
        "What a workload's containers used: how often how much.",
        UseHistogramList,
        NAMESPACE,
        QueryWord("workload", str, "Its name, or KIND/NAME.", required=True),
        QueryWord("container", str, "This one alone."),
        narrows=True,
    ),
    asked(
        "sizing",
        "advice",
        "What SizingPolicies make of running pods.",
        shapes.SIZING_LIST,
        NAMESPACE,
        narrows=True,
    ),
    asked(
        "scalers",
        "advice",
        "What ForecastScalers foresee, and which minimums they raise.",
        shapes.SCALER_LIST,
        NAMESPACE,
        narrows=True,
    ),
    asked(
        "seasons",
        "advice",
        "When workloads are busy, and what follows that.",
        shapes.SEASON_LIST,
        NAMESPACE,
        NAME,
        LIMIT,
        narrows=True,
    ),
    asked(
        "neighbours",
        "neighbours",
        "Which pods suffer when which others are busy.",
        shapes.NEIGHBOUR_LIST,
        NAMESPACE,
        LIMIT,
        QueryWord("role", str, "`victim` or `aggressor` alone."),
        QueryWord("of", str, "`pods` or `workloads`."),
        narrows=True,
    ),
    asked(
        "neighbours/{namespace}/{name}",
        "neighbours",
        "One pod or workload, and its links.",
        shapes.NEIGHBOUR,
        NAMESPACE,
        narrows=True,
    ),
    posted(
        "placement",
        ("get", "placements"),
        "Which nodes suit a pod.",
        shapes.PLACEMENT,
        LIMIT,
        body=dict[str, Any],
    ),
    asked("buffers", "placements", "How much room is kept free, and why.", shapes.BUFFER),
    asked(
        "oversell",
        "placements",
        "How much CPU of nodes is oversold or could be, and why no more.",
        shapes.NODE_OVERSELL_LIST,
    ),
    asked("packing", "placements", "Which nodes could be emptied.", shapes.PACKING, LIMIT),
    # Profiles.
    asked("profiles", "profiles", "Profiles, the newest first.", shapes.PROFILE_LIST, LIMIT),
    posted(
        "profiles",
        ("create", "profiles"),
        "Asks for a profile.",
        shapes.PROFILE,
        body=ProfileQuestion,
        status=202,
    ),
    asked("profiles/{id}", "profiles", "One profile, and how far it is.", shapes.PROFILE),
    asked("profiles/{id}/pprof", "profiles", "Its content, for `go tool pprof`.", PPROF),
    asked("profiles/{id}/folded", "profiles", "Its stacks, a line for each.", TEXT),
    asked("profiles/{id}/flamegraph", "profiles", "Its flame graph.", HTML),
    asked("profiles/{id}/difference/{after}", "profiles", "The flame graph of two profiles.", HTML),
    asked(
        "clusters/{cluster}/profiles",
        "clusterprofiles",
        "Profiles of another cluster, the newest first.",
        shapes.PROFILE_LIST,
        LIMIT,
    ),
    *(
        asked(f"clusters/{{cluster}}/profiles/{{id}}{path}", "clusterprofiles", summary, shape)
        for path, summary, shape in (
            ("", "One profile of another cluster.", shapes.PROFILE),
            ("/pprof", "Its content, for `go tool pprof`.", PPROF),
            ("/folded", "Its stacks, a line for each.", TEXT),
            ("/flamegraph", "Its flame graph.", HTML),
            ("/difference/{after}", "The flame graph of two profiles of that cluster.", HTML),
        )
    ),
    asked(
        "profile-targets",
        "topology",
        "What can be profiled.",
        shapes.PROFILE_TARGET_LIST,
        LIMIT,
        QueryWord("search", str, "A part of a name."),
        QueryWord("node", str, "On this node alone."),
    ),
    asked(
        "ageing",
        "ageing",
        "What grows with age, and in which line.",
        shapes.AGEING_LIST,
        NAMESPACE,
        LIMIT,
        narrows=True,
    ),
    asked(
        "ageing/{id}",
        "ageing",
        "One workload, with the series of its processes.",
        shapes.AGEING,
        QueryWord("seconds", int, "Of how long the CPU time is."),
    ),
    asked("ageing/{id}/folded", "ageing", "What is in use now, a line for each stack.", TEXT),
    asked("ageing/{id}/flamegraph", "ageing", "What is in use now beside what was at first.", HTML),
    # Secrets: who was given what, never a value.
    asked(
        "leases",
        "leases",
        "Vault tokens of pods.",
        shapes.LEASE_LIST,
        NAMESPACE,
        WORKLOAD,
        LIMIT,
        QueryWord("expired", bool, "Only those that nobody has renewed or revoked in time."),
        narrows=True,
    ),
    asked(
        "grants",
        "grants",
        "Who was given which secret, and who was refused.",
        shapes.GRANT_LIST,
        NAMESPACE,
        WORKLOAD,
        LIMIT,
        QueryWord("path", str, "As `vault kv get` takes it."),
        QueryWord("refused", bool, "Only what was not granted."),
        QueryWord("since", float, "Seconds since 1970."),
        narrows=True,
    ),
    *CHANGE_PATHS,
)
