#include "env/spare_memory.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace halidegym {

namespace {

using Owned = std::unique_ptr<std::byte[]>;

}  // namespace

struct SpareMemory::Shelf {
    const size_t max_spares;
    std::mutex mutex;
    std::map<size_t, std::vector<Owned>> spares;  // by size

    Owned take(size_t size) {
        const std::scoped_lock lock(mutex);
        auto &same = spares[size];
        if (same.empty()) {
            return nullptr;
        }
        Owned block = std::move(same.back());
        same.pop_back();
        return block;
    }

    void put(size_t size, Owned block) {
        const std::scoped_lock lock(mutex);
        if (auto &same = spares[size]; same.size() < max_spares) {
            same.push_back(std::move(block));
        }
    }
};

SpareMemory::SpareMemory(size_t max_spares) : shelf_(std::make_shared<Shelf>(max_spares)) {}

SpareMemory::Block SpareMemory::take(size_t size) const {
    Owned block = shelf_->take(size);
    if (!block) {
        block = std::make_unique_for_overwrite<std::byte[]>(size);
    }
    return {block.release(), [size, shelf = std::weak_ptr(shelf_)](std::byte *memory) {
                Owned owned(memory);
                if (const auto still_there = shelf.lock()) {
                    still_there->put(size, std::move(owned));
                }
            }};
}

}  // namespace halidegym
