"""Pools of generated problems: equal episodes whatever is in memory or on disk, and no trust in files."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import pipelines_for_tests
from batches_for_tests import check_same
from episodes_for_tests import TARGET, bare, outcome, random_policy
from halidegym.envs.generated_problems import GeneratedProblems
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.halide_schedule_vector import HalideScheduleVector
from halidegym.envs.problem_files import ProblemFiles
from halidegym.envs.problem_pool import ProblemPool
from halidegym.envs.problems.prepared_problem import PreparedProblem
from halidegym.envs.problems.rules import Rules
from halidegym.envs.processes.files import cache_directory
from halidegym.native import _core
from halidegym.native.weights import resolve_weights

SIZE = 5


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of the files; each test begins without any, and ends when no thread prepares any more."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield cache_directory() / "problems"
    gc.collect()
    for thread in pool_threads():
        thread.join(60)


def pool_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "problem pool"]


def source(**changes: object) -> GeneratedProblems:
    rules = Rules(memory_limit=changes.get("memory_limit"))  # type: ignore[arg-type]
    suites = changes.get("suites", ("random-train-v1",))
    return GeneratedProblems(suites, TARGET, int(str(changes.get("parallelism", 16))), rules, resolve_weights(None))  # type: ignore[arg-type]


def make(size: int = SIZE) -> HalideSchedule:
    return bare("random", pool=size, max_decisions=64)


def episodes(env: HalideSchedule) -> list[tuple[str, float, float]]:
    """Seeds, pipelines and costs."""
    played = []
    for seed in range(8):
        reward, info = outcome(env, random_policy(seed), seed=seed)
        played.append((env.problem.name, reward, info["cost"]))
    return played


def wait_until_full(pool: ProblemPool) -> None:
    end = time.monotonic() + 120
    while pool.num_ready() < len(pool) and time.monotonic() < end:
        time.sleep(0.01)
    assert pool.num_ready() == len(pool)


def test_equal_seeds_give_equal_episodes_whatever_is_in_memory_or_on_disk(folder: Path) -> None:
    env = make()
    empty = episodes(env)
    wait_until_full(env.prepared_problems)  # type: ignore[arg-type]
    assert episodes(env) == empty
    del env
    gc.collect()
    on_disk = make()
    assert episodes(on_disk) == empty
    del on_disk
    gc.collect()
    (kept,) = folder.iterdir()
    for number in (1, 3):
        (kept / f"{number}.problem").unlink()
    assert episodes(make()) == empty
    assert len({name for name, _, _ in empty}) > 1
    assert {name for name, _, _ in empty} <= {f"random-train-v1/{number}" for number in range(SIZE)}


def test_vectors_have_equal_pools() -> None:
    envs = HalideScheduleVector(8, pipeline="random", pool=SIZE, target=TARGET, parallelism=16)
    envs.reset(seed=0)
    single = make()
    for seed, problem in enumerate(envs.problems):
        single.reset(seed=seed)
        assert single.problem == problem


def test_a_pool_holds_the_first_of_each_of_its_suites() -> None:
    env = bare(["random-train-v2", "random-validation-v1"], pool=3, max_decisions=64)
    pool = env.prepared_problems
    assert isinstance(pool, ProblemPool)
    names = [pool[number].problem.name for number in range(len(pool))]
    assert names == ["random-train-v2/0", "random-validation-v1/0", "random-train-v2/1"]
    assert {name for name, _, _ in episodes(env)} <= set(names)


def test_a_file_gives_what_was_written(folder: Path) -> None:
    problems = source()
    files, made = ProblemFiles(problems), problems.make(2)
    assert files.read(2) is None
    files.write(2, made)
    again = files.read(2)
    assert again is not None
    assert again.problem.to_bytes() == made.problem.to_bytes()
    assert again.greedy_cost == made.greedy_cost == again.greedy.cost
    assert "greedy" not in vars(files.read(2))


@pytest.mark.parametrize("damage", ["empty", "cut", "longer", "flipped", "other magic", "other number", "folder"])
def test_a_file_that_is_not_what_was_written_is_made_anew(folder: Path, damage: str) -> None:
    problems = source()
    files = ProblemFiles(problems)
    for number in (0, 1):
        files.write(number, problems.make(number))
    (kept,) = folder.iterdir()
    path = kept / "0.problem"
    data = path.read_bytes()
    path.unlink()
    match damage:
        case "folder":
            path.mkdir()
        case "other number":
            shutil.copy(kept / "1.problem", path)
        case _:
            path.write_bytes(
                {
                    "empty": b"",
                    "cut": data[:-1],
                    "longer": data + b"\0",
                    "flipped": data[:200] + bytes([data[200] ^ 1]) + data[201:],
                    "other magic": b"X" + data[1:],
                }[damage]
            )
    assert files.read(0) is None
    pool = ProblemPool(problems, 1)
    assert pool[0].problem.hash == problems.make(0).problem.hash
    assert (files.read(0) is not None) == (damage != "folder")


def test_files_are_of_one_configuration() -> None:
    kept = ProblemFiles(source())
    kept.write(0, source().make(0))
    other_suites = source(suites=("random-train-v2",)), source(suites=("random-train-v1", "random-train-v2"))
    for other in (source(parallelism=8), source(memory_limit=10**9), *other_suites):
        files = ProblemFiles(other)
        assert files.key != kept.key
        assert files.read(0) is None


def test_a_problem_without_a_greedy_schedule_is_kept_as_that() -> None:
    problems = source(memory_limit=0)
    files = ProblemFiles(problems)
    made = problems.make(0)
    files.write(0, made)
    again = files.read(0)
    assert again is not None
    assert np.isnan(again.speedup(1.0)) == np.isnan(made.speedup(1.0))


def test_without_a_folder_pools_are_in_memory(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_bytes(b"")  # in the way
    env = make()
    assert episodes(env)[0][0].startswith("random-train-v1/")
    assert folder.read_bytes() == b""


def test_pools_are_shared_and_go_with_their_environments() -> None:
    first, second, other = make(), make(), make(SIZE - 1)
    assert first.prepared_problems is second.prepared_problems is not other.prepared_problems
    for again in (copy.deepcopy(first), *map(pickle.loads, (pickle.dumps(first), cloudpickle.dumps(first)))):
        assert again.prepared_problems is first.prepared_problems
    pool = ProblemPool(source(), 10**6)
    assert pool[7].problem.name == "random-train-v1/7"
    refill = pool_threads()
    assert refill
    del pool
    gc.collect()
    for thread in refill:
        thread.join(60)
    assert not any(thread.is_alive() for thread in refill)


@pytest.mark.parametrize("size", [0, -1, 1.5, "all", 2**31])
def test_bad_sizes_are_named(size: object) -> None:
    with pytest.raises(_core.InvalidParameter, match="pool="):
        HalideSchedule("random", pool=size)  # type: ignore[arg-type]


def test_pools_are_for_generated_pipelines() -> None:
    with pytest.raises(_core.InvalidParameter, match=r'pool=10 is for generated pipelines alone.*pipeline="random"'):
        HalideSchedule(pipelines_for_tests.blur, pool=10)


def test_observations_have_room_for_all_generated_pipelines() -> None:
    check_same(make().observation_space.spaces.keys(), bare("random", max_decisions=64).observation_space.spaces.keys())
    assert make().observation_space == bare("random", max_decisions=64).observation_space


def test_a_process_that_is_forked_while_problems_are_prepared_can_use_what_that_takes() -> None:
    held, is_held = threading.Lock(), threading.Event()

    class Slow(GeneratedProblems):
        def make(self, number: int) -> PreparedProblem:
            if number == 0:
                return super().make(number)
            with held:
                is_held.set()
                time.sleep(0.2)
                return super().make(number)

    problems = source()
    pool = ProblemPool(
        Slow(problems.suites, problems.target, problems.parallelism, problems.rules, problems.weights), SIZE
    )
    assert pool[0].problem.name == "random-train-v1/0"
    assert is_held.wait(60)
    child = os.fork()
    if child == 0:
        os._exit(0 if held.acquire(timeout=10) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_fork_waits_for_one_problem_and_not_for_the_whole_pool() -> None:
    class Slow(GeneratedProblems):
        def make(self, number: int) -> PreparedProblem:
            time.sleep(0.05)
            return super().make(number)

    problems = source()
    pool = ProblemPool(
        Slow(problems.suites, problems.target, problems.parallelism, problems.rules, problems.weights), 40
    )
    assert pool[0].problem.name == "random-train-v1/0"
    child = os.fork()
    if child == 0:
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert pool.num_ready() < 10
