"""Collecting on the nodes of a Ray cluster: each set on one of them, where nothing else goes on."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from typing import Any

from halidegym.envs.processes.files import ScratchFolder
from halidegym.envs.processes.ray_cluster import RayCluster, WorkersLost
from halidegym.envs.timing.machine import installation_and_machine, this_machine
from halidegym.training.measured.collect import Collector, CollectSettings, Spent, Wanted
from halidegym.training.measured.collection import MeasuredCollection
from halidegym.training.measured.sets import SetName
from halidegym.training.measured.store import MeasuredStore


class RayCollector:
    """Does what `Collector` does on nodes that are machines like this one.

    Args:
        store: of this machine.
        settings: how to collect.

    Attributes:
        spent: what the nodes' time went into.
    """

    def __init__(self, store: MeasuredStore, settings: CollectSettings) -> None:
        self.spent = Spent()
        self._store = store
        self._settings = settings

    def collect(self, wanted: Iterable[Wanted], *, seconds: float) -> Iterator[SetName]:
        """See `Collector.collect`; sets are done in any order.

        Raises:
            Error: the Ray cluster cannot be used.
        """
        deadline = time.monotonic() + seconds
        done = self._store.done
        with RayCluster(installation_and_machine) as cluster:
            begun: dict[Any, SetName] = {}
            for set_ in wanted:
                if set_.name in done:
                    yield set_.name
                    continue
                if begun and len(begun) >= cluster.num_timing:
                    yield self._take_next(cluster, begun)
                if time.monotonic() > deadline:
                    break
                begun[cluster.submit(collect_there, set_, self._settings, timed=True)] = set_.name
            while begun:
                yield self._take_next(cluster, begun)

    def _take_next(self, cluster: RayCluster, begun: dict[Any, SetName]) -> SetName:
        call = next(cluster.completed(list(begun)))
        name = begun.pop(call)
        try:
            found, spent = cluster.result(call)
        except WorkersLost as lost:
            found, spent = MeasuredCollection(this_machine(), skipped={name: str(lost)}), Spent()
        self._store.add(found)
        self.spent = self.spent.plus(spent)
        return name


def collect_there(wanted: Wanted, settings: CollectSettings) -> tuple[MeasuredCollection, Spent]:
    """Collect a set on a node, and return what was measured."""
    with ScratchFolder() as folder, MeasuredStore(folder) as store:
        collector = Collector(store, settings)
        for _ in collector.collect([wanted], seconds=math.inf):
            pass
        return store.collection, collector.spent
