"""Rates of environments, measured in turns."""

from __future__ import annotations

from halidegym.evaluation.studies import environment_speed


def test_all_loops_take_steps() -> None:
    loops = {
        "CartPole-v1": environment_speed.cart_pole(),
        "single": environment_speed.schedules("toy_blur"),
        "vector": environment_speed.vector("toy_blur", num_envs=8, threads=2),
        "views": environment_speed.vector("toy_blur", num_envs=8, copy=False, max_decisions=2),
        "next step": environment_speed.vector("toy_blur", num_envs=8, autoreset_mode="NextStep"),
        "native": environment_speed.native_vector("toy_blur", num_envs=8, threads=2),
        "pool": environment_speed.pooled(3),
        "apart": environment_speed.pooled_apart(3),
    }
    rates = environment_speed.alternate(loops, rounds=2, seconds=0.02)
    assert list(rates) == list(loops)
    assert all(len(rate) == 2 and min(rate) > 0 for rate in rates.values())
