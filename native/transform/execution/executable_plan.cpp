#include "transform/execution/executable_plan.h"

#include "transform/kernels.h"

namespace halidegym {

// Goes over the plan twice: once for the size of the memory, then to fill it.
class ExecutablePlan::Builder {
public:
    Builder(ExecutablePlan &plan, const TwiddleRoots &roots) : plan_(plan), roots_(roots) {}

    static void lay_out(const PlanNode &node, const TransformProblem &problem, Layout &layout) {
        if (const int scratch = scratch_size(problem, node.step)) {
            layout.place(static_cast<size_t>(scratch));
        }
        if (const int twiddles = num_twiddles(problem, node.step)) {
            layout.place(static_cast<size_t>(twiddles));
        }
        const SubProblems subs = sub_problems(problem, node.step);
        for (size_t i = 0; i < subs.size(); i++) {
            lay_out(i == 0 ? *node.first : *node.second, subs[i].problem, layout);
        }
    }

    // The index of the node.
    int add(const PlanNode &node, const TransformProblem &problem, bool first_is_one) {
        Node made{};
        if (node.step.kind == StepKind::Codelet) {
            set_codelet(made, problem, node.step.parameter, first_is_one);
        } else {
            double *scratch = take(scratch_size(problem, node.step));
            const double *twiddles = take_twiddles(problem, node.step);
            const SubProblems subs = sub_problems(problem, node.step);
            const bool splits = node.step.kind == StepKind::Split;
            for (size_t i = 0; i < subs.size(); i++) {
                const bool is_second = i == 1;
                const int child =
                    add(is_second ? *node.second : *node.first, subs[i].problem, splits ? is_second : first_is_one);
                Part &part = made.parts[made.num_parts++];
                part = {.node = child,
                        .runs = subs[i].runs,
                        .in_step = 2 * ptrdiff_t{subs[i].in_step},
                        .out_step = 2 * ptrdiff_t{subs[i].out_step},
                        .twiddle_step = 2 * ptrdiff_t{subs[i].twiddle_step},
                        .in = is_second ? scratch : nullptr,
                        .twiddles = is_second ? twiddles : nullptr,
                        .out = splits && !is_second ? scratch : nullptr,
                        .reads_output = is_second && !scratch};
            }
        }
        plan_.nodes_.push_back(made);
        return static_cast<int>(plan_.nodes_.size()) - 1;
    }

private:
    static void set_codelet(Node &made, const TransformProblem &problem, int lanes, bool first_is_one) {
        made.kernel = find_kernel(problem.n, lanes, access_modes(problem, lanes));
        made.columns = {.is = problem.is,
                        .os = problem.os,
                        .iv = problem.iv,
                        .ov = problem.ov,
                        .ws = problem.ws,
                        .wv = problem.wv,
                        .groups = problem.v / lanes,
                        .first_is_one = first_is_one};
        const ptrdiff_t done = made.columns.groups * lanes;
        made.rest_kernel = find_kernel(problem.n, 1, access_modes(problem, 1));
        made.rest = made.columns;
        made.rest.groups = problem.v - done;
        made.rest_in = 2 * done * problem.iv;
        made.rest_out = 2 * done * problem.ov;
        made.rest_twiddles = 2 * done * problem.wv;
    }

    double *take(int complexes) {
        return complexes == 0 ? nullptr : plan_.memory_.data() + layout_.place(static_cast<size_t>(complexes));
    }

    const double *take_twiddles(const TransformProblem &problem, const TransformStep &step) {
        const int count = num_twiddles(problem, step);
        double *twiddles = take(count);
        if (twiddles) {
            roots_.fill({twiddles, 2 * static_cast<size_t>(count)}, problem.n, step.parameter,
                        step.place == SplitPlace::Columns);
        }
        return twiddles;
    }

    ExecutablePlan &plan_;
    const TwiddleRoots &roots_;
    Layout layout_;
};

ExecutablePlan::ExecutablePlan(const TransformPlan &plan, const TwiddleRoots &roots, AlignedMemory memory)
    : ExecutablePlan(whole_transform(plan.n()), plan.root(), roots, std::move(memory)) {}

ExecutablePlan::ExecutablePlan(const TransformProblem &problem, const PlanNode &steps, const TwiddleRoots &roots,
                               AlignedMemory memory)
    : memory_(std::move(memory)) {
    Layout layout;
    Builder::lay_out(steps, problem, layout);
    if (memory_.size() < layout.size()) {
        memory_ = AlignedMemory(layout.size());
    }
    Builder(*this, roots).add(steps, problem, true);
}

void ExecutablePlan::run(const double *in, double *out, const double *twiddles) const {
    run_node(nodes_.back(), in, out, twiddles);
}

void ExecutablePlan::run_node(const Node &node, const double *in, double *out, const double *twiddles) const {
    if (node.num_parts == 0) {
        node.kernel(node.columns, in, out, twiddles);
        if (node.rest.groups > 0) {
            node.rest_kernel(node.rest, in + node.rest_in, out + node.rest_out, twiddles + node.rest_twiddles);
        }
        return;
    }
    for (int i = 0; i < node.num_parts; i++) {
        const Part &part = node.parts[i];
        const Node &child = nodes_[static_cast<size_t>(part.node)];
        const double *from = part.reads_output ? out : part.in ? part.in : in;
        double *to = part.out ? part.out : out;
        const double *scaling = part.twiddles ? part.twiddles : twiddles;
        for (int run = 0; run < part.runs; run++) {
            run_node(child, from, to, scaling);
            from += part.in_step;
            to += part.out_step;
            scaling += part.twiddle_step;
        }
    }
}

}  // namespace halidegym
