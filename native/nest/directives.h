#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/level.h"
#include "problem/problem.h"

namespace halidegym {

// A finished loop nest as Halide scheduling calls, in plain data (docs/specification/search-space.md, section 13).

// A loop of a stage: the loop that the algorithm gave it, or the inner half of `splits` successive splits of it. What
// it is called depends on the copy of the pipeline (`LoopNames`).
struct LoopVariable {
    int loop = 0;
    int splits = 0;

    friend bool operator==(const LoopVariable &, const LoopVariable &) = default;
};

// Where other Funcs are computed or stored: the body of one loop of a stage, of that stage's outermost loop if there is
// no variable, or of the whole pipeline if there is no stage.
struct LoopPosition {
    int stage = -1;
    std::optional<LoopVariable> variable{};

    bool is_root() const { return stage < 0; }
    friend bool operator==(const LoopPosition &, const LoopPosition &) = default;
};

enum class TailStrategy : uint8_t { RoundUp, GuardWithIf, ShiftInwards };

// One scheduling call on a stage, or, for the pure stage, on its Func.
struct Directive {
    enum class Kind : uint8_t {
        StoreInStack,
        Split,           // loops: the loop split, which stays the name of the outer half; the inner half
        Unroll,          // loops: one
        Vectorize,       // loops: one
        ComputeAt,       // position
        StoreAt,         // position
        Reorder,         // loops: innermost first
        Fuse,            // loops: the inner one, which stays the name of the fused loop; the outer one
        Parallel,        // loops: one
        ReorderStorage,  // dimensions: innermost first
    };
    Kind kind = Kind::StoreInStack;
    std::vector<LoopVariable> loops{};
    std::vector<int> dimensions{};  // pure arguments of the Func
    int64_t factor = 0;
    TailStrategy tail = TailStrategy::RoundUp;
    LoopPosition position{};

    friend bool operator==(const Directive &, const Directive &) = default;
};

// What is called on one stage, in order, and the loops that it had before any were fused, innermost first.
struct StageDirectives {
    int stage = 0;
    std::vector<LoopVariable> loops{};
    std::vector<Directive> directives{};

    friend bool operator==(const StageDirectives &, const StageDirectives &) = default;
};

// The calls that give the pipeline this loop nest; stages in the order of the plugin's schedule text
// (docs/specification/search-space.md, section 13.7). Calls on distinct stages commute. Stages of inputs and of inlined
// Funcs do not occur. `root` is a complete nest.
std::vector<StageDirectives> directives(const Problem &problem, const Level &root);

std::string_view tail_strategy_name(TailStrategy tail);

}  // namespace halidegym
