"""What advice is made of."""

from dataclasses import dataclass

from nemutator_common.settings import between, setting

from nemutator_controller.setting_checks import prices


@dataclass(frozen=True, kw_only=True)
class AdviceSettings:
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
    prices: str = setting(
        "",
        "What a core and a GiB cost for an hour, as `core_hour: 0.03, gib_hour: 0.004, currency: EUR`: the page"
        " then says of what is wasted what that costs a month. Empty: it says cores and bytes.",
        check=prices,
    )
