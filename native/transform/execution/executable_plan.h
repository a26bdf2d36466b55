#pragma once

#include <vector>

#include "transform/codelets/kernel.h"
#include "transform/execution/aligned_memory.h"
#include "transform/execution/twiddles.h"
#include "transform/plan.h"

namespace halidegym {

// A plan, or a part of one for a problem of its own, with its kernels, tables of twiddles and scratch memory. For one
// thread at a time.
class ExecutablePlan {
public:
    // Roots are of the size or a multiple of it. Memory that is large enough is used again.
    // Throws InvalidParameter for codelets that this machine lacks.
    ExecutablePlan(const TransformPlan &plan, const TwiddleRoots &roots, AlignedMemory memory = {});
    // Of steps that apply.
    ExecutablePlan(const TransformProblem &problem, const PlanNode &steps, const TwiddleRoots &roots,
                   AlignedMemory memory = {});

    // Does not touch the input, unless the problem is in place; a whole transform's must not overlap the output.
    // Twiddles are those of a scaled problem, of which every first one is taken for 1.
    void run(const double *in, double *out, const double *twiddles = nullptr) const;

    // To be used again; nothing can be run any more.
    AlignedMemory release_memory() { return std::move(memory_); }

private:
    // What a node has done by another one, `runs` times: it begins `*_step` doubles further each time.
    struct Part {
        int node;
        int runs;
        ptrdiff_t in_step, out_step, twiddle_step;
        // Instead of those of the whole node; null for none.
        const double *in, *twiddles;
        double *out;
        bool reads_output;
    };

    struct Node {
        // Of a codelet: for whole groups of columns, and for the rest.
        Kernel kernel, rest_kernel;
        Columns columns, rest;
        ptrdiff_t rest_in, rest_out, rest_twiddles;  // where it begins
        int num_parts;                               // 0 for a codelet
        Part parts[2];
    };

    class Builder;

    void run_node(const Node &node, const double *in, double *out, const double *twiddles) const;

    AlignedMemory memory_;
    std::vector<Node> nodes_;  // children before their parents
};

}  // namespace halidegym
