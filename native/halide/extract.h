#pragma once

#include <string>

#include <Halide.h>

#include "problem/problem.h"

namespace halidegym {

// The analysis of Adams et al. 2019, as the Adams2019 autoscheduler of Halide 21 performs it before its search
// (docs/specification/function-dag.md). The pipeline is only read.
//
// `target`: see known_target. `parallelism`: cores of the machine that the schedule is meant for, at least 1. `name`:
// what the problem is called in messages and reports.
//
// Throws InvalidParameter, MissingEstimate or UnsupportedPipeline, never a Halide::Error.
Problem extract_problem(const Halide::Pipeline &pipeline, const std::string &target, int parallelism, std::string name);

}  // namespace halidegym
