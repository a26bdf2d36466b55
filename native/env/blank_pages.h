#pragma once

#include <cstddef>

namespace halidegym {

// Memory that is 0, and takes time and room only where somebody touches it: the system's pages. For large tables that
// nearly nobody reads.
class BlankPages {
public:
    // Throws OutOfResources if there is not so much.
    explicit BlankPages(size_t size);
    ~BlankPages();
    BlankPages(const BlankPages &) = delete;
    BlankPages &operator=(const BlankPages &) = delete;

    std::byte *data() const { return data_; }

private:
    std::byte *data_;
    size_t size_;
};

}  // namespace halidegym
