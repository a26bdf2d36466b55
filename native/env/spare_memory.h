#pragma once

#include <cstddef>
#include <memory>

namespace halidegym {

// Memory for arrays that are handed out call after call, and soon let go of: what nobody holds any more is handed out
// again, since memory that is new to the process costs more to touch than to fill. Its content is anything. Memory may
// outlive the object that it comes from, and be let go of by any thread.
class SpareMemory {
public:
    using Block = std::shared_ptr<std::byte>;

    // Keeps so many spare blocks of each size.
    explicit SpareMemory(size_t max_spares = 4);
    Block take(size_t size) const;

private:
    struct Shelf;

    std::shared_ptr<Shelf> shelf_;
};

}  // namespace halidegym
