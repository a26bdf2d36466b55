#pragma once

#include <span>
#include <vector>

#include "env/observation.h"
#include "state/state.h"

namespace halidegym {

// Describes decisions of one state, each as a row of the observation, in their order. Those that share a level and its
// tiling mostly follow each other, so the trip counts described last are kept. Those that share a vector dimension
// follow each other, too, and for each dimension there are mostly the same ones: rows are copied from such a twin.
class DescriptorWriter {
public:
    // `rows`, one for each decision, are 0.
    DescriptorWriter(const ObservationShape &shape, Expansion &expansion, std::span<const Decision> decisions,
                     std::span<float> rows)
        : loops_(static_cast<size_t>(shape.loops)), columns_(static_cast<size_t>(shape.descriptor_size())),
          expansion_(expansion), decisions_(decisions), rows_(rows), site_trips_(2 * loops_) {}

    // To be called for one action after the other.
    void write(size_t action);

private:
    bool copy_twin(size_t action);
    void write_placement(const Decision &decision, const Level &level, float *row);
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
    size_t columns_;
    Expansion &expansion_;
    std::span<const Decision> decisions_;
    std::span<float> rows_;
    size_t twin_ = 0;       // where the next one is looked for: among the decisions
    size_t twins_end_ = 0;  // of the vector dimension before, up to here
    std::optional<Site> site_;
    std::vector<float> site_trips_;  // of the level, of the outer tile
    Extents inner_trips_;            // of the inner half
};

}  // namespace halidegym
