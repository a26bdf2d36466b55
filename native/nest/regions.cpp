#include "nest/regions.h"

#include <array>

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
}

int64_t Bound::volume_computed() const {
    int64_t volume = 1;
    for (const Span &span : computed()) {
        volume *= span.extent();
    }
    return volume;
}

Regions::Regions(const Problem &problem) : problem_(&problem), stage_(-1), bounds_(problem.nodes.size()) {}

Regions::Regions(const Problem &problem, int stage, Bound own)
    : problem_(&problem), stage_(stage), bounds_(problem.nodes.size()) {
    const auto node = static_cast<size_t>(problem.stages[static_cast<size_t>(stage)].node);
    bounds_[node].store(new Bound(std::move(own)), std::memory_order_relaxed);
}

Regions::~Regions() {
    for (const auto &bound : bounds_) {
        delete bound.load(std::memory_order_relaxed);
    }
}

const Bound &Regions::of(int node) const {
    auto &slot = bounds_[static_cast<size_t>(node)];
    if (const Bound *known = slot.load(std::memory_order_acquire)) {
        return *known;
    }
    auto derived = std::make_unique<const Bound>(derive(node));
    const Bound *expected = nullptr;
    if (slot.compare_exchange_strong(expected, derived.get(), std::memory_order_acq_rel)) {
        return *derived.release();
    }
    return *expected;  // another thread was faster; both computed the same
}

Bound Regions::derive(int id) const {
    const Node &node = problem_->nodes[static_cast<size_t>(id)];
    Bound bound(node);
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
    return bound;
}

}  // namespace halidegym
