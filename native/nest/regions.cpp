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

int64_t evaluate(const Problem &problem, const BoundRules::End &end, const Span *loops,
                 std::span<const int64_t> symbols) {
    if (end.expression >= 0) {
        return evaluate(problem, end.expression, symbols);
    }
    const Span &loop = loops[end.loop];
    return end.coefficient * (end.of_max ? loop.max : loop.min) + end.constant;
}

// docs/specification/function-dag.md, section 5.3: the region that a consumer with these loops needs.
void unite_footprint(const Problem &problem, const BoundRules::Consumer &consumer, const Bound &bound, Span *required) {
    // What moves with no loop is read as if it moved with the first one by nothing.
    static constexpr Span no_loop{0, 0, true};
    const Span *loops = consumer.num_loops > 0 ? bound.spans().data() + consumer.first_loop : &no_loop;
    Symbols storage;
    const auto symbols = consumer.has_expressions
                             ? symbols_of({loops, static_cast<size_t>(consumer.num_loops)}, storage)
                             : std::span<const int64_t>();
    uint32_t other_loops = 0;  // whose extents are not constant
    for (int i = 0; i < consumer.num_loops; i++) {
        other_loops |= uint32_t{!loops[i].constant_extent} << i;
    }
    for (const BoundRules::Dimension &rule : consumer.required) {
        const bool constant_extent = rule.may_have_constant_extent && (rule.constant_loops & other_loops) == 0;
        const int64_t min = evaluate(problem, rule.min, loops, symbols);
        const int64_t max = evaluate(problem, rule.max, loops, symbols);
        *required = unite(*required, Span{min, max, constant_extent});
        required++;
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

Span loop_span(const Problem &problem, const LoopRule &loop, std::span<const Span> computed,
               std::span<const int64_t> symbols) {
    switch (loop.kind) {
    case LoopRule::Kind::ComputedDimension:
        return computed[static_cast<size_t>(loop.computed_dim)];
    case LoopRule::Kind::Constant:
        return {loop.constant_min, loop.constant_max, true};
    case LoopRule::Kind::General:
        break;
    }
    return {evaluate(problem, loop.expression_min, symbols), evaluate(problem, loop.expression_max, symbols), false};
}

}  // namespace

void Bound::derive_from_required(const Problem &problem) {
    const BoundRules &rules = node_->bound_rules;
    const auto dimensions = static_cast<size_t>(node_->dimensions);
    Span *const computed = spans_ + dimensions;
    if (rules.computes_required) {
        std::copy_n(spans_, dimensions, computed);
    } else {
        Symbols storage;
        const auto symbols =
            rules.computes_by_expressions ? symbols_of(required(), storage) : std::span<const int64_t>();
        for (size_t d = 0; d < dimensions; d++) {
            computed[d] = computed_dimension(problem, node_->region_computed[d], spans_[d], symbols);
        }
    }
    volume_computed_ = 1;
    for (size_t d = 0; d < dimensions; d++) {
        volume_computed_ *= computed[d].extent();
    }
    Span *loop = computed + dimensions;
    if (!rules.looped.empty()) {
        for (const int d : rules.looped) {
            *loop++ = computed[d];
        }
        return;
    }
    Symbols storage;
    const auto symbols =
        rules.loops_by_expressions ? symbols_of(this->computed(), storage) : std::span<const int64_t>();
    for (const LoopRule &rule : rules.loops) {
        *loop++ = loop_span(problem, rule, this->computed(), symbols);
    }
}

Regions::Regions(const Problem &problem)
    : problem_(&problem), stage_(-1), own_(problem.nodes.front()), bounds_(problem.nodes.size()) {}

Regions::Regions(const Problem &problem, const Stage &stage, const Bound &own, std::span<const Span> loops)
    : problem_(&problem), stage_(stage.id), own_(own), bounds_(problem.nodes.size()) {
    set_own(stage, own, loops);
}

Regions::~Regions() {
    Derived *list = derived_.load(std::memory_order_relaxed);
    while (list != nullptr) {
        delete std::exchange(list, list->next);
    }
}

void Regions::set_own(const Stage &stage, const Bound &own, std::span<const Span> loops) {
    upstream_ = stage.upstream;
    own_ = own;
    std::copy(loops.begin(), loops.end(), own_.mutable_loops(stage.index).begin());
    place_of(stage.node).store(&own_, std::memory_order_release);
}

void Regions::reuse(const Problem &problem, const Stage &stage, const Bound &own, std::span<const Span> loops,
                    Reused<Bound> &records) {
    records_ = &records;
    problem_ = &problem;  // the one before may be gone
    bounds_.assign(std::max(bounds_.size(), problem.nodes.size()), nullptr);
    stage_ = stage.id;
    set_own(stage, own, loops);
}

const Bound &Regions::derived(int node) const {
    const Node &func = problem_->nodes[static_cast<size_t>(node)];
    const auto place = place_of(node);
    if (records_ != nullptr) {
        Bound &bound = records_->next(func);
        bound.become(func);
        derive_into(bound, node);
        place.store(&bound, std::memory_order_relaxed);
        return bound;
    }
    auto made = std::make_unique<Derived>(func);
    derive_into(made->bound, node);
    const Bound *expected = nullptr;
    if (!place.compare_exchange_strong(expected, &made->bound, std::memory_order_acq_rel)) {
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
        if (node.bound_rules.consumers.empty()) {
            throw InternalError("Func '" + node.name + "' has no consumer from which its region could follow");
        }
        for (const BoundRules::Consumer &consumer : node.bound_rules.consumers) {
            if (counts(consumer)) {
                const auto beyond = std::ranges::find_if(consumer.beyond, [&](const auto &c) { return counts(c); });
                const auto &farthest = beyond != consumer.beyond.end() ? *beyond : consumer;
                unite_footprint(*problem_, farthest, of(farthest.node), required.data());
            }
        }
    }
    bound.derive_from_required(*problem_);
}

}  // namespace halidegym
