"""A node in which it is known who makes whom suffer: machines with finite processors, memory, disks and networks,
pods that want some of each, and planted ones that at times want too much of one.

Nothing in it knows how neighbours are found: waits come from what all want together and what the machine has.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from nemutator_controller.neighbours.node_window import FIGURES, Values
from nemutator_controller.neighbours.resources import SCALES, Contended

Rates = npt.NDArray[np.float64]

CORES, MEMORY_GIB, DISK_MB, NETWORK_MB, BANDWIDTH = 16.0, 64.0, 200.0, 120.0, 100.0
"""Of a machine; the bandwidth of its memory in GB per second."""


@dataclass(frozen=True, slots=True)
class PlantedNode:
    values: Values
    """As a `NodeWindow` shows them."""
    aggressors: frozenset[int]
    """Rows."""
    resource: Contended | None
    latency: Rates
    """Of the requests of each row, in each minute, as a multiple of what it is alone."""
    suffering: Mapping[Contended, Rates]
    """What each row truly suffers of each resource, in each minute."""


def planted_node(
    seed: int,
    resource: Contended | None,
    *,
    pods: int = 30,
    minutes: int = 60,
    quiet: frozenset[int] = frozenset(),
) -> PlantedNode:
    """A node with one aggressor that competes for *resource*, or none. The rows *quiet* do nothing: what is it like
    without them?"""
    dice = np.random.default_rng(seed)
    # Of their own, so that all else is what it is without them.
    turns = np.random.default_rng((seed, 18))
    queued = np.zeros(minutes)
    work = _work(dice, pods, minutes)
    cpu = work * dice.uniform(0.02, 0.25, (pods, 1))
    traffic = work * dice.lognormal(-1.0, 0.8, (pods, 1))
    disk = _work(dice, pods, minutes) * dice.lognormal(-2.5, 1.0, (pods, 1))
    memory = dice.lognormal(-1.0, 0.6, (pods, 1)) + 0.02 * np.abs(dice.normal(size=(pods, minutes)))
    bandwidth = cpu * dice.uniform(1.0, 4.0, (pods, 1))
    # Big and harmless: one takes much CPU all the time, another one in bursts that the node has room for.
    cpu[0] += 3.0 + 0.1 * dice.normal(size=minutes)
    cpu[1] += 2.0 * _bursts(dice, minutes)
    traffic[2] += 8.0
    aggressors: frozenset[int] = frozenset()
    if resource is not None:
        hog = int(dice.integers(5, pods))
        aggressors = frozenset({hog})
        on = _bursts(dice, minutes)
        match resource:
            case Contended.CPU:
                cpu[hog] += on * dice.uniform(12.0, 18.0)
            case Contended.TURNS:
                # Many threads that wake at once, and are done before the processors are full.
                cpu[hog] += on * dice.uniform(2.0, 4.0)
                queued = on * turns.uniform(0.04, 0.16) * (hog not in quiet)
            case Contended.CACHE:
                cpu[hog] += on * 2.0
                bandwidth[hog] += on * dice.uniform(90.0, 150.0)
            case Contended.DISK:
                disk[hog] += on * dice.uniform(180.0, 320.0)
            case Contended.NETWORK:
                traffic[hog] += on * dice.uniform(110.0, 220.0)
            case Contended.MEMORY:
                memory[hog] += on * dice.uniform(48.0, 64.0)
    for row in quiet:
        for wanted in (cpu, traffic, disk, bandwidth):
            wanted[row] = 0.0
        memory[row] = 0.01
    return _measured(
        dice, turns, cpu, memory, disk, traffic, bandwidth, queued, aggressors, resource
    )


def harmed(
    seed: int, resource: Contended | None, row: int, *, minutes: int = 60
) -> dict[int, float]:
    """Whom *row* truly makes suffer, as a part of what grade 1 takes: what each suffers in its worst minutes, less what
    it would if *row* did nothing at all."""
    there = planted_node(seed, resource, minutes=minutes)
    away = planted_node(seed, resource, minutes=minutes, quiet=frozenset({row}))
    found: dict[int, float] = {}
    for each in Contended:
        less = np.quantile(there.suffering[each], 0.85, axis=1) - np.quantile(
            away.suffering[each], 0.85, axis=1
        )
        for victim, part in enumerate(less / SCALES[each].suffering[0]):
            if victim != row:
                found[victim] = max(found.get(victim, 0.0), float(part))
    return found


def _measured(
    dice: np.random.Generator,
    turns: np.random.Generator,
    cpu: Rates,
    memory: Rates,
    disk: Rates,
    traffic: Rates,
    bandwidth: Rates,
    queued: Rates,
    aggressors: frozenset[int],
    resource: Contended | None,
) -> PlantedNode:
    pods, minutes = cpu.shape
    # How much of its run each spends where a shared thing is short; most are hardly touched.
    needs = dice.beta(0.8, 2.0, (pods, 1))
    stalled = needs * _over(bandwidth.sum(axis=0), BANDWIDTH)
    slowed = cpu * (1 + stalled)
    granted, cpu_wait = _shared(slowed, CORES, dice)
    # Who gets less CPU than it wants serves less.
    traffic = traffic * granted / np.maximum(slowed, 1e-9)
    granted_disk, disk_wait = _shared(disk, DISK_MB, dice)
    # Who reads or writes hardly anything hardly waits for it.
    disk_wait = disk_wait * (disk > 0.05)
    granted_network, network_wait = _shared(traffic, NETWORK_MB, dice)
    short = np.clip(memory.sum(axis=0) / (0.92 * MEMORY_GIB) - 1, 0.0, 0.5)
    memory_wait = np.clip(
        1.5 * needs * short + np.abs(dice.normal(0.002, 0.004, (pods, minutes))), 0, 1
    )
    # One turn in a hundred: a slice or two, and longer the more of the time is waited for at all.
    turn_wait = 0.002 * turns.lognormal(0.0, 0.4, (pods, minutes))
    turn_wait += turns.beta(0.8, 2.0, (pods, 1)) * queued
    turn_wait += 0.06 * cpu_wait / np.maximum(1 - cpu_wait, 0.05)
    noisy = dice.lognormal(0.0, 0.03, (pods, minutes))
    values = np.stack(
        [
            granted * noisy,
            memory,
            granted_disk,
            granted_network,
            cpu_wait,
            memory_wait,
            disk_wait,
            turn_wait,
        ]
    ).astype(np.float32)
    assert len(values) == len(FIGURES)
    latency = (1 + stalled) * (
        1 + 3 * (cpu_wait + memory_wait + disk_wait + np.clip(network_wait, 0, 1))
    )
    moved = {
        Contended.CACHE: stalled,
        Contended.CPU: cpu_wait,
        Contended.TURNS: turn_wait,
        Contended.DISK: disk_wait,
        Contended.MEMORY: memory_wait,
        Contended.NETWORK: network_wait,
    }
    return PlantedNode(values, aggressors, resource, latency, moved)


def _shared(wanted: Rates, there: float, dice: np.random.Generator) -> tuple[Rates, Rates]:
    """What each gets of what is *there*, and for which part of its time it waits."""
    together = wanted.sum(axis=0)
    part = np.minimum(there / np.maximum(together, 1e-9), 1.0)
    # A queue grows before all is taken.
    load = np.minimum(together / there, 1.0)
    waits = np.clip((1 - part) + 0.15 * load**8, 0.0, 1.0)
    unequal = dice.uniform(0.6, 1.2, (len(wanted), 1))
    noise = np.abs(dice.normal(0.0, 0.012, wanted.shape))
    return wanted * part, np.clip(waits * unequal + noise, 0.0, 1.0)


def _over(together: Rates, there: float) -> Rates:
    return np.clip(together / there - 0.7, 0.0, 1.5)


def _work(dice: np.random.Generator, pods: int, minutes: int) -> Rates:
    """Loads around 1 that go up and down slowly, some of them together, with a spike now and then."""
    common, own = np.zeros(minutes), np.zeros((pods, minutes))
    for minute in range(1, minutes):
        common[minute] = 0.9 * common[minute - 1] + 0.1 * dice.normal()
        own[:, minute] = 0.85 * own[:, minute - 1] + 0.15 * dice.normal(size=pods)
    shared = dice.uniform(0, 1, (pods, 1)) * common
    spikes = (dice.random((pods, minutes)) < 0.02) * dice.exponential(1.0, (pods, minutes))
    found: Rates = np.exp(shared + own) + spikes
    return found


def _bursts(dice: np.random.Generator, minutes: int) -> Rates:
    """1 while it is busy, which lasts some minutes and comes again; it is both in any hour."""
    found = np.zeros(minutes)
    at = int(dice.integers(1, 6))
    while at < minutes:
        length = int(dice.integers(3, 9))
        found[at : at + length] = dice.uniform(0.85, 1.0)
        at += length + int(dice.integers(3, 10))
    return found
