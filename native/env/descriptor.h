#pragma once

#include <span>
#include <vector>

#include "env/observation.h"
#include "state/state.h"

namespace halidegym {

// Describes the decisions of one state, each as a row of the observation. Those that share a level and its tiling
// mostly follow each other, so the trip counts described last are kept.
class DescriptorWriter {
public:
    DescriptorWriter(const ObservationShape &shape, Expansion &expansion)
        : loops_(static_cast<size_t>(shape.loops)), expansion_(expansion), site_trips_(2 * loops_) {}

    // Into a row that is 0.
    void write(const Decision &decision, float *row);

private:
    void go_to_site(const Decision &decision, const Level &level);
    Extents inner_tile(const Decision &decision);

    // Where a decision places a Func: at a level, or between the halves of one.
    struct Site {
        int depth;
        bool is_tile;
        uint32_t tile;
        friend bool operator==(const Site &, const Site &) = default;
    };

    size_t loops_;
    Expansion &expansion_;
    std::optional<Site> site_;
    std::vector<float> site_trips_;  // of the level, of the outer tile
    Extents inner_trips_;            // of the inner half
};

}  // namespace halidegym
