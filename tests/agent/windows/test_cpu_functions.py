from nemutator_agent.windows.cpu_functions import (
    HIGHEST_LOAD,
    LOWEST_HZ,
    NodeSamples,
    cpu_window,
    rate,
)
from nemutator_common.windows import MOST_FUNCTIONS, SymbolFrame, function_id


def named(name: str) -> SymbolFrame:
    return SymbolFrame(name, "main.go", 3)


MAIN, WORK, HASH = named("main.main"), named("main.work"), named("main.hash")


def test_a_function_has_its_own_samples_and_those_of_what_it_calls() -> None:
    stacks = [((HASH, WORK, MAIN), 5), ((WORK, MAIN), 2), ((WORK, WORK, MAIN), 1)]
    window, functions = cpu_window(stacks, seconds=30.0, hz=49, lost_share=0.1)
    found = {functions[one.function].function: (one.own, one.total) for one in window.functions}
    assert found == {"main.hash": (5, 5), "main.work": (3, 8), "main.main": (0, 8)}
    assert (window.samples, window.rest_own, window.rest_functions) == (8, 0, 0)
    assert (window.seconds, window.hz, window.lost_share) == (30.0, 49, 0.1)
    assert functions[function_id("main.work", "main.go")].line == 3


def test_a_process_that_did_not_run_has_no_sample() -> None:
    window, functions = cpu_window([], seconds=30.0, hz=49, lost_share=0.0)
    assert (window.samples, window.functions, functions) == (0, (), {})


def test_samples_without_functions_are_not_left_out() -> None:
    window, functions = cpu_window([((), 4)], seconds=30.0, hz=49, lost_share=0.0)
    (only,) = window.functions
    assert (only.own, window.samples) == (4, 4)
    assert functions[only.function].function == "[no stack]"


def test_half_are_told_for_their_own_samples_and_half_for_those_beneath() -> None:
    stacks = [((named(f"leaf{n}"), named(f"caller{n}")), 1_000 - n) for n in range(200)]
    window, functions = cpu_window(stacks, seconds=30.0, hz=49, lost_share=0.0)
    assert len(window.functions) == len(functions) == MOST_FUNCTIONS
    shown = [functions[one.function].function for one in window.functions]
    assert sum(name.startswith("leaf") for name in shown) >= MOST_FUNCTIONS // 2
    assert "caller0" in shown
    assert sum(one.own for one in window.functions) + window.rest_own == window.samples
    assert window.rest_functions == 400 - MOST_FUNCTIONS


def test_a_large_node_is_sampled_less_often_but_not_hardly() -> None:
    assert rate(hz=49, seconds=30.0, cpus=2) == 49
    assert rate(hz=49, seconds=30.0, cpus=16) == HIGHEST_LOAD // (30 * 16)
    assert rate(hz=49, seconds=30.0, cpus=256) == LOWEST_HZ
    assert rate(hz=11, seconds=30.0, cpus=256) == 11


def test_what_was_lost_is_a_share() -> None:
    assert NodeSamples(recorded=90, lost=10, processes={}).lost_share == 0.1
    assert NodeSamples(recorded=0, lost=0, processes={}).lost_share == 0.0
