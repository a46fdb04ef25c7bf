"""How the brain helps schedulers: neighbours, seasons, marks of nodes, room that is kept free."""

from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.settings import between, setting

from nemutator_controller.setting_checks import label_pairs, listening, time_zone


@dataclass(frozen=True, kw_only=True)
class PlacementSettings:
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
    season_workloads: int = setting(
        5_000,
        "Workloads whose use is kept by day to find their seasons, 13 KB each for three weeks. One more takes the"
        " place of one that is silent since a day, or is not kept.",
        check=between(10, 100_000),
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
    raised_autoscalers: int = setting(
        100,
        "Most HorizontalPodAutoscalers whose minReplicas ForecastScalers of mode Apply raise at the same time; 0: none.",
        check=between(0, 10_000),
    )
    spare_reserve_percent: float = setting(
        15.0,
        "Of the CPU that nodes can take, what is never spare for ForecastScalers with `opportunistic`.",
        check=between(0, 100),
    )
    packing_nodes: int = setting(
        0,
        "Most nodes that are emptied, or empty and named removable, at once while a SeasonPolicy in force says"
        " `placement: Pack`; 0: none, and no pod is moved.",
        check=between(0, 1_000),
    )
    oversell_nodes: int = setting(
        0,
        "Most nodes whose CPU is oversold at once, as NodeOversells with `mode: Apply` say; 0: none, and ratios that stand on nodes"
        " are taken away.",
        check=between(0, 10_000),
    )
