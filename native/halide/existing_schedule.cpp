#include "halide/existing_schedule.h"

#include <algorithm>
#include <map>

#include "halide/func_graph.h"

namespace halidegym {

using namespace Halide::Internal;

namespace {

// LoopLevel's own method wants a level that is locked, which would change the Func.
bool is_inlined(const Halide::LoopLevel &level) {
    return level.var_name().empty();
}

std::string loop_schedule(const Dim &loop) {
    if (loop.for_type != ForType::Serial) {
        return "vectorize, unroll or parallel";
    }
    if (loop.device_api != Halide::DeviceAPI::None) {
        return "hexagon";
    }
    return loop.partition_policy == Halide::Partition::Always ? "always_partition" : "";
}

std::string stage_schedule(const Definition &definition) {
    const StageSchedule &schedule = definition.schedule();
    if (!schedule.splits().empty()) {
        return "split, fuse, tile or rename";
    }
    if (!definition.specializations().empty()) {
        return "specialize";
    }
    for (const Dim &loop : schedule.dims()) {
        const std::string found = loop_schedule(loop);
        if (!found.empty()) {
            return found;
        }
    }
    if (schedule.atomic()) {
        return "atomic";
    }
    return is_inlined(schedule.fuse_level().level) ? "" : "compute_with";
}

// A prefetch of what is computed. Only schedules compile with it that store the Func outside of these loops; inputs are
// always there.
bool prefetches_a_func(const Function &function) {
    const std::map<std::string, Function> called = find_transitive_calls(function);
    const auto is_input = [&](const PrefetchDirective &prefetch) {
        const auto source = called.find(prefetch.name);
        const Call *load = source == called.end() ? nullptr : source->second.is_wrapper();
        return prefetch.param.defined() || (load && load->call_type == Call::Image);
    };
    for (int s = 0; s < num_stages(function); s++) {
        if (!std::ranges::all_of(definition_of(function, s).schedule().prefetches(), is_input)) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string existing_schedule(const Function &function) {
    for (int s = 0; s < num_stages(function); s++) {
        const std::string found = stage_schedule(definition_of(function, s));
        if (!found.empty()) {
            return found + (s == 0 ? "" : " of its update " + std::to_string(s - 1));
        }
    }
    const FuncSchedule &schedule = function.schedule();
    if (!is_inlined(schedule.compute_level())) {
        return "compute_root or compute_at";
    }
    if (!is_inlined(schedule.store_level())) {
        return "store_root or store_at";
    }
    if (!is_inlined(schedule.hoist_storage_level())) {
        return "hoist_storage";
    }
    // Those that have none are inlined, and so are not there.
    const auto &wrappers = schedule.wrappers();
    if (std::any_of(wrappers.begin(), wrappers.end(), [](const auto &consumer_and_wrapper) {
            return !existing_schedule(Function(consumer_and_wrapper.second)).empty();
        })) {
        return "in or clone_in, with a schedule";
    }
    if (prefetches_a_func(function)) {
        return "prefetch of a Func";
    }
    if (schedule.memory_type() != Halide::MemoryType::Auto) {
        return "store_in";
    }
    if (schedule.ring_buffer().defined()) {
        return "ring_buffer";
    }
    const bool stored_in_order = std::equal(
        schedule.storage_dims().begin(), schedule.storage_dims().end(), function.args().begin(), function.args().end(),
        [](const StorageDim &dim, const std::string &name) { return dim.var == name; });
    if (!stored_in_order) {
        return "reorder_storage";
    }
    return schedule.memoized() ? "memoize" : schedule.async() ? "async" : "";
}

}  // namespace halidegym
