"""Episodes in plain words."""

from __future__ import annotations

import re

import gymnasium as gym
import halide as hl
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import halidegym
from halidegym.envs.views import decision_words
from halidegym.envs.wrappers import TextObservation
from halidegym.envs.wrappers.text import steady_names
from halidegym.native._core import InvalidParameter

TARGET = "x86-64-linux-avx-avx2-f16c-fma-sse41"


def make(**arguments: object) -> TextObservation:
    env = gym.make("HalideSchedule-v0", pipeline="toy_blur", target=TARGET, parallelism=4, **arguments)
    return TextObservation(env)


def listed(text: str) -> list[tuple[int, str]]:
    return [(int(number), words) for number, words in re.findall(r"^(\d+): (.*)$", text, re.MULTILINE)]


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_gymnasium_accepts_it() -> None:
    check_env(make(max_decisions=16), skip_render_check=True)
    again = gym.make(make().spec)
    assert isinstance(again.reset(seed=0)[0], str)
    assert halidegym.wrappers.TextObservation is TextObservation


def test_numbers_are_actions_and_words_are_theirs() -> None:
    env = make(max_decisions=16)
    text, info = env.reset(seed=0)
    rng, terminated = np.random.default_rng(0), False
    while not terminated:
        assert text in env.observation_space
        state, indices = env.unwrapped.state, env.unwrapped.decision_indices()
        decisions = listed(text)
        assert (
            [number for number, _ in decisions] == list(range(len(indices))) == list(range(info["action_mask"].sum()))
        )
        expansion = state.expand()
        described = [decision_words(expansion.describe(int(k))) for k in indices]
        assert [words for _, words in decisions] == [re.sub(r"\$\d+", "", words) for words in described]
        count = "all" if len(indices) == len(expansion) else f"{len(indices)} of {len(expansion)}"
        assert f"Legal decisions, {count}:" in text
        assert f"Next Func: {state.next_func.partition('$')[0]};" in text
        action = rng.integers(len(decisions))
        text, _, terminated, _, info = env.step(action)
        assert env.unwrapped.state.decisions_made[state.num_decisions_made] == expansion.decision(int(indices[action]))
    assert f"complete, cost {info['cost']:.6g}" in text
    assert listed(text) == []
    assert env.with_costs() == text


@pytest.mark.parametrize("pipeline", ["camera_pipe", "unsharp"])  # Funcs of one name, and one without
def test_equal_pipelines_have_equal_texts_whatever_was_built_before(pipeline: str) -> None:
    texts = []
    for _ in range(2):
        env = TextObservation(gym.make("HalideSchedule-v0", pipeline=pipeline, parallelism=4, max_decisions=8))
        text, terminated = env.reset(seed=0)[0], False
        texts.append([text])
        while not terminated:
            text, _, terminated, *_ = env.step(np.int64(1))
            texts[-1].append(text)
    assert texts[0] == texts[1]


def test_names_beyond_ascii_are_escaped_as_the_space_is_of_printable_characters() -> None:
    x, width = hl.Var("x"), hl.Var("größe")
    blur, source = hl.Func("unschärfe"), hl.Func("模糊")
    source[x, width] = hl.f32(x + width)
    blur[x, width] = source[x, width] + source[x + 1, width]
    blur.set_estimates([hl.Range(0, 256), hl.Range(0, 256)])
    env = TextObservation(gym.make("HalideSchedule-v0", pipeline=blur, target=TARGET, parallelism=4, max_decisions=16))
    text, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        assert text in env.observation_space and env.with_costs() in env.observation_space
        text, _, terminated, _, info = env.step(info["action_mask"].argmax())
    assert text in env.observation_space
    assert r"unsch\xe4rfe" in text and r"gr\xf6\xdfe" in text


def test_names_are_counted_in_the_order_of_the_nodes() -> None:
    names = ["blur$12", "sum$4", "sum", "lambda_7", "lambda_8", "stage_3"]
    assert list(steady_names(names).values()) == ["blur", "sum", "sum$1", "lambda", "lambda$1", "stage_3"]


def test_costs_are_told_on_request_and_counted() -> None:
    env, silent = make(), make()
    for one in (env, silent):
        one.reset(seed=0)
    told = listed(env.with_costs())
    expansion = env.unwrapped.state.expand()
    costs = [float(words.partition(":")[0]) for _, words in told]
    assert costs == pytest.approx(expansion.costs(), rel=1e-4)
    assert env.requested_evaluations == len(expansion)
    (*_, info), (*_, without) = env.step(np.int64(0)), silent.step(np.int64(0))
    assert info["evaluations"] == without["evaluations"] + len(expansion)
    env.reset(seed=0)
    assert env.requested_evaluations == 0


def test_other_environments_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="wrap a HalideSchedule"):
        TextObservation(gym.make("SyntheticTree-v0"))
