"""The ids of the environments in Gymnasium's registry."""

import gymnasium as gym

HALIDE_SCHEDULE = "HalideSchedule-v0"
HALIDE_SCHEDULE_HARDWARE = "HalideScheduleHardware-v0"
HALIDE_SCHEDULE_REPLAY = "HalideScheduleReplay-v0"
SYNTHETIC_TREE = "SyntheticTree-v0"
TRANSFORM_PLAN = "TransformPlan-v0"
TRANSFORM_PLAN_HARDWARE = "TransformPlanHardware-v0"
TRANSFORM_PLAN_REPLAY = "TransformPlanReplay-v0"


def register_environments() -> None:
    """Register all environments; done by `import halidegym`."""
    if HALIDE_SCHEDULE not in gym.registry:
        gym.register(
            id=HALIDE_SCHEDULE,
            entry_point="halidegym.envs.halide_schedule:HalideSchedule",
            vector_entry_point="halidegym.envs.halide_schedule_vector:HalideScheduleVector",
        )
    if SYNTHETIC_TREE not in gym.registry:
        gym.register(id=SYNTHETIC_TREE, entry_point="halidegym.envs.synthetic_tree:SyntheticTreeEnv")
    if TRANSFORM_PLAN not in gym.registry:
        gym.register(
            id=TRANSFORM_PLAN,
            entry_point="halidegym.envs.transform.plan_env:TransformPlanEnv",
            vector_entry_point="halidegym.envs.transform.plan_vector:TransformPlanVector",
        )
    if HALIDE_SCHEDULE_HARDWARE not in gym.registry:
        gym.register(
            id=HALIDE_SCHEDULE_HARDWARE,
            entry_point="halidegym.envs.timed_halide_schedule:make_measured",
            vector_entry_point="halidegym.envs.timed_halide_schedule:make_measured_vector",
            nondeterministic=True,
        )
    if HALIDE_SCHEDULE_REPLAY not in gym.registry:
        gym.register(
            id=HALIDE_SCHEDULE_REPLAY,
            entry_point="halidegym.envs.timed_halide_schedule:make_replayed",
            vector_entry_point="halidegym.envs.timed_halide_schedule:make_replayed_vector",
        )
    if TRANSFORM_PLAN_HARDWARE not in gym.registry:
        gym.register(
            id=TRANSFORM_PLAN_HARDWARE,
            entry_point="halidegym.envs.transform.timed_plan:make_measured",
            vector_entry_point="halidegym.envs.transform.timed_plan:make_measured_vector",
            nondeterministic=True,
        )
    if TRANSFORM_PLAN_REPLAY not in gym.registry:
        gym.register(
            id=TRANSFORM_PLAN_REPLAY,
            entry_point="halidegym.envs.transform.timed_plan:make_replayed",
            vector_entry_point="halidegym.envs.transform.timed_plan:make_replayed_vector",
        )
