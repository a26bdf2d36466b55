#include "nest/regions.h"

#include <array>
#include <memory>
#include <utility>

#include "problem/error.h"

namespace halidegym {

namespace {

// Symbols of a General expression: min and max of each span.
using Symbols = std::array<int64_t, 2 * max_loops>;

std::span<const int64_t> symbols_of(std::span<const Span> spans, Symbols &storage) {
    size_t count = 0;
    for (const Span &span : spans) {
        storage[count++] = span.min;
        storage[count++] = span.max;
    }
    return {storage.data(), count};
}

int64_t evaluate(const Problem &problem, int expression, std::span<const int64_t> symbols) {
    return problem.expressions[static_cast<size_t>(expression)].evaluate(symbols);
}

// docs/specification/function-dag.md, section 5.3: one end of the region that a consumer with these loops needs.
int64_t evaluate_bound(const Problem &problem, const EdgeBound &bound, std::span<const Span> consumer_loops,
                       std::span<const int64_t> symbols, bool &constant_extent) {
    constant_extent = constant_extent && !bound.depends_on_parameter;
    switch (bound.kind) {
    case EdgeBound::Kind::Constant:
        return bound.constant;
    case EdgeBound::Kind::Affine: {
        const Span &loop = consumer_loops[static_cast<size_t>(bound.loop)];
        constant_extent = constant_extent && loop.constant_extent;
        return bound.coefficient * (bound.of_max ? loop.max : loop.min) + bound.constant;
    }
    case EdgeBound::Kind::General:
        break;
    }
    constant_extent = false;
    return evaluate(problem, bound.expression, symbols);
}

void unite_footprint(const Problem &problem, const Edge &edge, std::span<const Span> consumer_loops,
                     std::span<Span> required) {
    Symbols storage;
    const auto symbols = symbols_of(consumer_loops, storage);
    for (size_t d = 0; d < required.size(); d++) {
        bool constant_extent = true;
        const int64_t min = evaluate_bound(problem, edge.bounds[2 * d], consumer_loops, symbols, constant_extent);
        const int64_t max = evaluate_bound(problem, edge.bounds[2 * d + 1], consumer_loops, symbols, constant_extent);
        required[d] = unite(required[d], Span{min, max, constant_extent});
    }
}

Span computed_dimension(const Problem &problem, const ComputedDimension &rule, const Span &required,
                        std::span<const int64_t> symbols) {
    switch (rule.kind) {
    case ComputedDimension::Kind::EqualsRequired:
        return required;
    case ComputedDimension::Kind::UnionWithConstants:
        return {std::min(required.min, rule.constant_min), std::max(required.max, rule.constant_max), false};
    case ComputedDimension::Kind::General:
        break;
    }
    return {evaluate(problem, rule.expression_min, symbols), evaluate(problem, rule.expression_max, symbols), false};
}

Span loop_span(const Problem &problem, const Loop &loop, std::span<const Span> computed,
               std::span<const int64_t> symbols) {
    switch (loop.kind) {
    case Loop::Kind::ComputedDimension:
        return computed[static_cast<size_t>(loop.computed_dim)];
    case Loop::Kind::Constant:
        return {loop.constant_min, loop.constant_max, true};
    case Loop::Kind::General:
        break;
    }
    return {evaluate(problem, loop.expression_min, symbols), evaluate(problem, loop.expression_max, symbols), false};
}

}  // namespace

void Bound::derive_from_required(const Problem &problem) {
    Symbols storage;
    const auto dimensions = static_cast<size_t>(node_->dimensions);
    const auto required_symbols = symbols_of(required(), storage);
    for (size_t d = 0; d < dimensions; d++) {
        data()[dimensions + d] =
            computed_dimension(problem, node_->region_computed[d], required()[d], required_symbols);
    }
    const auto computed_symbols = symbols_of(computed(), storage);
    for (int s = 0; s < node_->num_stages; s++) {
        const Stage &stage = problem.stage(*node_, s);
        const auto spans = mutable_loops(s);
        for (size_t i = 0; i < spans.size(); i++) {
            spans[i] = loop_span(problem, stage.loops[i], computed(), computed_symbols);
        }
    }
    volume_computed_ = 1;
    for (const Span &span : computed()) {
        volume_computed_ *= span.extent();
    }
}

Regions::Regions(const Problem &problem)
    : problem_(&problem), stage_(-1), own_(problem.nodes.front()), bounds_(problem.nodes.size()) {}

Regions::Regions(const Problem &problem, const Stage &stage, const Bound &own, std::span<const Span> loops)
    : problem_(&problem), stage_(stage.id), own_(own), bounds_(problem.nodes.size()) {
    set_own(stage, own, loops);
}

Regions::~Regions() {
    for (Derived *list : {derived_.load(std::memory_order_relaxed), spare_}) {
        while (list != nullptr) {
            delete std::exchange(list, list->next);
        }
    }
}

void Regions::set_own(const Stage &stage, const Bound &own, std::span<const Span> loops) {
    own_ = own;
    std::copy(loops.begin(), loops.end(), own_.mutable_loops(stage.index).begin());
    bounds_[static_cast<size_t>(stage.node)].store(&own_, std::memory_order_release);
}

void Regions::reuse(const Stage &stage, const Bound &own, std::span<const Span> loops) {
    const auto forget = [&](int node) {
        bounds_[static_cast<size_t>(node)].store(nullptr, std::memory_order_relaxed);
    };
    Derived *list = derived_.exchange(nullptr, std::memory_order_relaxed);
    while (list != nullptr) {
        forget(list->node);
        Derived *next = list->next;
        list->next = std::exchange(spare_, list);
        list = next;
    }
    forget(problem_->stages[static_cast<size_t>(stage_)].node);
    stage_ = stage.id;
    set_own(stage, own, loops);
}

const Bound &Regions::derived(int node) const {
    std::unique_ptr<Derived> made;
    const Node &func = problem_->nodes[static_cast<size_t>(node)];
    if (spare_ != nullptr) {
        made.reset(std::exchange(spare_, spare_->next));
        made->bound = Bound(func);
    } else {
        made.reset(new Derived{Bound(func), nullptr, 0});
    }
    made->node = node;
    derive_into(made->bound, node);
    const Bound *expected = nullptr;
    if (!bounds_[static_cast<size_t>(node)].compare_exchange_strong(expected, &made->bound,
                                                                    std::memory_order_acq_rel)) {
        return *expected;  // another thread was faster; both computed the same
    }
    made->next = derived_.load(std::memory_order_relaxed);
    while (!derived_.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel)) {
    }
    return made.release()->bound;
}

void Regions::derive_into(Bound &bound, int id) const {
    const Node &node = problem_->nodes[static_cast<size_t>(id)];
    const auto required = bound.mutable_required();
    if (node.is_output && stage_ < 0) {
        // An output is sized by its estimate alone, whatever else consumes it (docs/specification/function-dag.md,
        // quirk Q17).
        std::copy(node.estimated_region.begin(), node.estimated_region.end(), required.begin());
    } else {
        if (node.outgoing.empty()) {
            throw InternalError("Func '" + node.name + "' has no consumer from which its region could follow");
        }
        for (const int e : node.outgoing) {
            const Edge &edge = problem_->edges[static_cast<size_t>(e)];
            const Stage &consumer = problem_->stages[static_cast<size_t>(edge.consumer_stage)];
            const bool counts = stage_ < 0 || edge.consumer_stage == stage_ ||
                                problem_->stages[static_cast<size_t>(stage_)].is_downstream_of(consumer.node);
            if (counts) {
                unite_footprint(*problem_, edge, of(consumer.node).loops(consumer.index), required);
            }
        }
    }
    bound.derive_from_required(*problem_);
}

}  // namespace halidegym
