#pragma once

#include <pybind11/pybind11.h>

namespace halidegym {

// One function a topic, each in the file of the same name; a topic may use the types bound by those above it.
void bind_halide_errors(pybind11::module_ &m);
void bind_native_work();
void bind_problem(pybind11::module_ &m);
void bind_halide_problem(pybind11::module_ &m);
void bind_halide_expression(pybind11::module_ &m);
void bind_nest(pybind11::module_ &m);
void bind_cost(pybind11::module_ &m);
void bind_state(pybind11::module_ &m);
void bind_search_spaces(pybind11::module_ &m);
void bind_transform(pybind11::module_ &m);
void bind_transform_view(pybind11::module_ &m);
void bind_search(pybind11::module_ &m);
void bind_search_mb2fbs(pybind11::module_ &m);
void bind_search_mcts(pybind11::module_ &m);
void bind_search_tag(pybind11::module_ &m);
void bind_search_parts(pybind11::module_ &m);
void bind_observation(pybind11::module_ &m);
void bind_policy(pybind11::module_ &m);
void bind_search_guided(pybind11::module_ &m);
void bind_env(pybind11::module_ &m);
void bind_env_vector(pybind11::module_ &m);
void bind_halide_schedule(pybind11::module_ &m);
void bind_transform_plan(pybind11::module_ &m);
void bind_transform_stopwatch(pybind11::module_ &m);

}  // namespace halidegym
