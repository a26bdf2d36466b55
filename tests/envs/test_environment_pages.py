"""What the pages of the environments say in tables: arguments and their defaults, spaces, information, columns."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from episodes_for_tests import bare, play, random_policy
from halidegym.envs import observation, timed_halide_schedule
from halidegym.envs.halide_schedule import HalideSchedule
from halidegym.envs.halide_schedule_vector import HalideScheduleVector
from halidegym.envs.pipelines import generated
from halidegym.envs.synthetic_tree import SyntheticTreeEnv
from halidegym.envs.transform import timed_plan
from halidegym.envs.transform.plan_env import TransformPlanEnv
from halidegym.native._core import TransformSpace
from pages_for_tests import ROOT, names_in, tables


def page_of(documented: object) -> str:
    """The docstring that is a page."""
    return inspect.getdoc(documented) or ""


def default_in(said: str) -> Any:
    """A default as a value; None where words stand for it, or a name."""
    try:
        return ast.literal_eval(said.strip("`"))
    except (ValueError, SyntaxError):
        return None


@pytest.mark.parametrize(
    ("documented", "takes"),
    [
        (HalideSchedule, HalideSchedule),
        (HalideScheduleVector, HalideScheduleVector),
        (SyntheticTreeEnv, SyntheticTreeEnv),
        (TransformPlanEnv, TransformPlanEnv),
        (timed_halide_schedule.make_measured, timed_halide_schedule.measured),
        (timed_halide_schedule.make_replayed, timed_halide_schedule.replayed),
        (timed_plan.make_measured, timed_plan.measured),
        (timed_plan.make_replayed, timed_plan.replayed),
    ],
)
def test_tables_of_arguments(documented: object, takes: Callable[..., Any]) -> None:
    parameters = {**inspect.signature(takes).parameters}
    defaults = {name: parameters[name].default for name in parameters if name not in ("make", "environment")}
    (rows,) = tables(page_of(documented), "Argument", "Default", "Meaning")
    said = {name: default for names, default, _ in rows for name in names_in([names])}
    assert sorted(said) == sorted(defaults)
    for name, text in said.items():
        default = defaults[name]
        if name == "lanes":
            default = TransformSpace(lanes=default).lanes
        if (value := default_in(text)) is not None:
            assert value == getattr(default, "value", default), name
        elif text == "none":
            assert default is None, name


@pytest.mark.parametrize(
    ("environment", "arguments", "pages"),
    [
        ("HalideSchedule-v0", {"pipeline": "toy_blur"}, [HalideSchedule]),
        ("SyntheticTree-v0", {}, [SyntheticTreeEnv]),
        ("TransformPlan-v0", {"n": 64}, [TransformPlanEnv]),
        ("TransformPlanHardware-v0", {"n": 16}, [TransformPlanEnv, timed_plan.make_measured]),
    ],
)
def test_tables_of_information(environment: str, arguments: dict[str, Any], pages: list[object]) -> None:
    rows = [row for page in pages for table in tables(page_of(page), "Key", "When", "Content") for row in table]

    def said(*whens: str) -> list[str]:
        return sorted(names_in([key for key, when, _ in rows if when in whens]))

    env = gym.make(environment, **arguments)
    _, info = env.reset(seed=0)
    assert sorted(info) == said("always")
    terminated = False
    while not terminated:
        _, _, terminated, _, info = env.step(0)
        assert sorted(info) == (said("always", "step", "last step") if terminated else said("always", "step"))
    env.close()


def spaces_in(documented: object, sizes: dict[str, int]) -> dict[str, Any]:
    """Of each key of the observations, as a page has it: kind, bounds and shape."""
    said = {}
    (rows,) = tables(page_of(documented), "Key", "Space", "Content")
    for key, space, _ in rows:
        name, *numbers = re.match(r"`(\w+)\((?:(.+), (.+), )?(.+)\)`", space.replace("3 L", "3 * L")).groups()  # type: ignore[union-attr]
        said[key.strip("`")] = (name, *(eval(number, dict(sizes)) for number in numbers if number is not None))
    return said


def in_words(spaces: Mapping[str, gym.Space[Any]]) -> dict[str, Any]:
    """The same of spaces."""
    return {
        key: ("Box", space.low.min(), space.high.max(), space.shape)
        if isinstance(space, gym.spaces.Box)
        else ("MultiBinary", space.n)  # type: ignore[attr-defined]
        for key, space in spaces.items()
    }


def test_the_page_of_schedules_says_the_spaces() -> None:
    shape = bare(child_features=True, max_stages=40, max_edges=50, max_loops=9, max_decisions=128).observation_shape
    sizes = {"S": shape.stages, "E": shape.edges, "L": shape.loops, "D": shape.decisions, "H": 64 + 4 * shape.stages}
    assert spaces_in(HalideSchedule, sizes) == in_words(observation.observation_space(shape))


def test_the_page_of_plans_says_the_spaces() -> None:
    env = TransformPlanEnv((360, 1024))
    sizes = {"M": env.task.view.rows, "A": len(env.actions), "H": 64}
    spaces = env.task.observation_space.spaces
    assert spaces_in(TransformPlanEnv, sizes) == in_words(spaces)
    assert isinstance(spaces["steps"], gym.spaces.Box)
    highest = spaces["steps"].high.reshape(sizes["M"], -1)
    assert (highest == [64.0] * 14 + [sizes["M"], sizes["A"], 2.0]).all()


def test_the_page_of_columns_says_them_all_and_their_ranges() -> None:
    env = bare("harris", child_features=True, max_decisions=64)
    shape = env.observation_shape
    sizes = {"L": shape.loops, "S": shape.stages}
    seen: dict[str, list[Any]] = {}
    for shown, *_ in play(env, random_policy(0)):
        parts = env.tables(shown)
        used = {"stage": shown["stage_mask"], "edge": parts["edges"][:, 0] >= 0, "decision": shown["action_mask"]}
        for key in ("stage_features", "edge_features", "decisions", "decision_features"):
            rows = used[key.partition("_")[0].removesuffix("s")].astype(bool)
            seen.setdefault(key, []).append(parts[key][rows])

    def number(text: str) -> int:
        return int(eval(re.sub(r"(\d) ([LS])", r"\1 * \2", text), dict(sizes)))

    described = tables(page_of(observation), "Columns", "Content", "Range")
    for (key, found), rows in zip(seen.items(), described, strict=True):
        values, columns = np.concatenate(found), []
        for said, _, bounds in rows:
            first, *last = re.split(", (?:.*, )?| to ", said)
            here = range(number(first), number(last[0] if last else first) + 1)
            columns += here
            low, high = map(number, re.split(" to | or ", bounds))
            assert (low <= values[:, here]).all() and (values[:, here] <= high).all(), (key, said)
            assert " or " not in bounds or np.isin(values[:, here], (low, high)).all(), (key, said)
        assert columns == [*range(values.shape[1])], key


def test_pages_say_the_bounds_of_generated_pipelines() -> None:
    text = (ROOT / "docs/pipelines/generated.md").read_text(encoding="utf-8")
    nodes, stages, edges, loops = (
        [int(number) for number in re.findall(r"\d+", row[1])] for row in tables(text, "Bound", "")[0]
    )
    assert nodes == [generated.MIN_NODES, generated.MAX_NODES]
    assert (stages, edges, loops) == ([generated.MAX_STAGES], [generated.MAX_EDGES], [generated.MAX_LOOPS])
    room = f"({generated.MAX_STAGES} stages, {generated.MAX_EDGES} edges, {generated.MAX_LOOPS} loops)"
    assert room in " ".join(page_of(HalideSchedule).split())
