"""Records of quiet windows, as an agent ships them."""

from nemutator_common.windows import (
    CpuWindow,
    FunctionSamples,
    FunctionSymbol,
    HeapWindow,
    SiteAmounts,
    SiteSymbol,
    SymbolFrame,
    WindowCounters,
    WindowProcess,
    WindowReading,
    WindowSymbols,
    function_id,
    site_id,
)
from nemutator_common.wire import Missing

REMEMBER = (
    SymbolFrame("main.remember", "/src/main.go", 79),
    SymbolFrame("main.main", "/src/main.go", 120),
)


def window_process(*, pid: int = 42, image: str = "ab12") -> WindowProcess:
    return WindowProcess(
        pid=pid,
        started_at=1_000.0,
        program="shop",
        image=image,
        go_version="go1.26.8",
        group="/system.slice/shop.service",
    )


def heap_reading(
    *, at: float = 2_000.0, in_use: int = 1 << 20, collection: int = 7
) -> WindowReading:
    return WindowReading(
        node="n",
        at=at,
        age_s=at - 1_000.0,
        process=window_process(),
        window="heap",
        counters=WindowCounters(rss_anon_bytes=50 << 20, threads=9, goroutines=4),
        heap=HeapWindow(
            collection=collection,
            rate=512 << 10,
            sites=(amounts(site_id(REMEMBER), in_use=in_use),),
            rest=amounts("", in_use=1000),
            rest_sites=3,
        ),
        missing=(Missing("open_files", "the process is another user's", "run as root"),),
    )


PARSE = FunctionSymbol(
    function_id("main.parse", "/src/parse.go"), "main.parse", "/src/parse.go", 12
)


def cpu_reading(*, at: float, samples: int, parsing: int) -> WindowReading:
    """As `observe` sends it: *parsing* of *samples* are of main.parse, which nobody else calls."""
    return WindowReading(
        node="n",
        at=at,
        age_s=at - 1_000.0,
        process=window_process(),
        window="cpu",
        counters=WindowCounters(rss_anon_bytes=50 << 20, threads=9),
        cpu=CpuWindow(
            seconds=30.0,
            hz=49,
            samples=samples,
            functions=(FunctionSamples(function=PARSE.id, own=parsing, total=parsing),),
            rest_own=samples - parsing,
            rest_functions=3,
            lost_share=0.0,
        ),
    )


def amounts(site: str, *, in_use: int) -> SiteAmounts:
    return SiteAmounts(
        site=site,
        in_use_bytes=in_use,
        in_use_objects=in_use // 100,
        allocated_bytes=2 * in_use,
        allocated_objects=in_use // 50,
    )


def symbols() -> WindowSymbols:
    return WindowSymbols(
        node="n", sites=(SiteSymbol(site_id(REMEMBER), REMEMBER),), functions=(PARSE,)
    )
