#pragma once

#include <span>
#include <string>
#include <vector>

#include "nest/directives.h"
#include "problem/problem.h"

namespace halidegym {

// How often each loop of a stage is split by the stage's directives.
std::vector<int> splits_by_loop(const StageDirectives &scheduled, size_t num_loops);

// What the loops of one stage are called. The inner half of a split has the name of the loop with another "i" at its
// end, as in the plugin. Where the Func has such a variable already, which Halide would refuse
// (docs/specification/search-space.md, quirk 27), underscores come between: "x_i".
class LoopNames {
public:
    // `loops`: the names that the algorithm gave them. `arguments`: the variables of the Func. `splits`: of each loop.
    LoopNames(std::vector<std::string> loops, const std::vector<std::string> &arguments,
              const std::vector<int> &splits);

    std::string operator()(const LoopVariable &variable) const;

private:
    std::vector<std::string> loops_;
    std::vector<std::string> stems_;  // what the i's of inner halves are appended to
};

// By stage.
std::vector<LoopNames> loop_names(const Problem &problem, std::span<const StageDirectives> stages);

}  // namespace halidegym
