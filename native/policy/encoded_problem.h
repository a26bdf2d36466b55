#pragma once

#include <cstdint>
#include <vector>

#include "observation/problem_rows.h"
#include "policy/network.h"

namespace halidegym {

// What a network makes of a problem, which is the same for all of its states.
struct EncodedProblem {
    EncodedProblem(const PolicyNetwork &network, const ProblemRows &problem);

    size_t num_stages;
    std::vector<float> stages;                    // [stages * width]
    std::vector<float> context;                   // [width], what all stages add to the context, its bias included
    std::vector<float> blind_stages;              // [stages * width], what a level's stage adds in the blind head
    std::vector<float> child_reading_stages;      // the same in the child-reading one
    std::vector<std::vector<int32_t>> consumers;  // by stage; one that several edges lead to is there so often
};

}  // namespace halidegym
