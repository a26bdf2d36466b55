"""The ids of the environments in Gymnasium's registry."""

import gymnasium as gym

HALIDE_SCHEDULE = "HalideSchedule-v0"
HALIDE_SCHEDULE_HARDWARE = "HalideScheduleHardware-v0"
HALIDE_SCHEDULE_REPLAY = "HalideScheduleReplay-v0"
SYNTHETIC_TREE = "SyntheticTree-v0"
TRANSFORM_PLAN = "TransformPlan-v0"
TRANSFORM_PLAN_HARDWARE = "TransformPlanHardware-v0"
TRANSFORM_PLAN_REPLAY = "TransformPlanReplay-v0"

# A single environment, and a vector of them.
_ENTRY_POINTS = {
    HALIDE_SCHEDULE: ("halide_schedule:HalideSchedule", "halide_schedule_vector:HalideScheduleVector"),
    SYNTHETIC_TREE: ("synthetic_tree:SyntheticTreeEnv", None),
    TRANSFORM_PLAN: ("transform.plan_env:TransformPlanEnv", "transform.plan_vector:TransformPlanVector"),
    HALIDE_SCHEDULE_HARDWARE: (
        "timed_halide_schedule:make_measured",
        "timed_halide_schedule:make_measured_vector",
    ),
    HALIDE_SCHEDULE_REPLAY: (
        "timed_halide_schedule:make_replayed",
        "timed_halide_schedule:make_replayed_vector",
    ),
    TRANSFORM_PLAN_HARDWARE: ("transform.timed_plan:make_measured", "transform.timed_plan:make_measured_vector"),
    TRANSFORM_PLAN_REPLAY: ("transform.timed_plan:make_replayed", "transform.timed_plan:make_replayed_vector"),
}


def register_environments() -> None:
    """Register all environments; done by `import halidegym`."""
    for name, (single, vector) in _ENTRY_POINTS.items():
        if name not in gym.registry:
            gym.register(
                id=name,
                entry_point=f"halidegym.envs.{single}",
                vector_entry_point=vector and f"halidegym.envs.{vector}",
                nondeterministic=name in (HALIDE_SCHEDULE_HARDWARE, TRANSFORM_PLAN_HARDWARE),
            )
