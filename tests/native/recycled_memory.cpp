// Memory of nests: what a thread gives back it takes again, whoever took it first, and what a thread leaves is freed.

#include "nest/recycled_memory.h"

#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "allocations/allocations.h"
#include "example_problem.h"

using namespace halidegym;

namespace {

constexpr size_t num_blocks = 5000;  // more than a thread keeps of any size

std::vector<void *> take(size_t size) {
    std::vector<void *> blocks(num_blocks);
    for (void *&block : blocks) {
        block = RecycledMemory::take(size);
        std::memset(block, 1, size);
    }
    return blocks;
}

void give_back(const std::vector<void *> &blocks, size_t size) {
    for (void *block : blocks) {
        RecycledMemory::give_back(block, size);
    }
}

template <typename Function>
int64_t allocations_of(const Function &function) {
    const uint64_t before = halidegym_allocations();
    function();
    return static_cast<int64_t>(halidegym_allocations() - before);
}

// Whatever the size, blocks do not overlap.
void test_distinct() {
    for (const size_t size : {size_t{0}, size_t{1}, size_t{16}, size_t{17}, size_t{1024}, size_t{1025}}) {
        for (int round = 0; round < 2; round++) {
            const auto blocks = take(size);
            const std::set<void *> distinct(blocks.begin(), blocks.end());
            expect_equal("different blocks", distinct.size(), num_blocks);
            give_back(blocks, size);
        }
    }
}

void test_taken_again() {
    const auto step = [] { RecycledMemory::give_back(RecycledMemory::take(300), 300); };
    step();
    expect_equal("allocations of the same size again", allocations_of(step), int64_t{0});
    expect_equal("allocations beyond the sizes that are kept",
                 allocations_of([] { RecycledMemory::give_back(RecycledMemory::take(4000), 4000); }), int64_t{1});
}

// A thread that ends leaves nothing behind; neither does one that only gives back.
void test_threads() {
    std::vector<void *> blocks;
    std::thread([&] { blocks = take(300); }).join();
    std::thread([&] { give_back(blocks, 300); }).join();
    std::thread([&] { blocks = take(300); }).join();
    give_back(blocks, 300);
    // Variables of a thread that are older than its blocks give theirs back when these are gone.
    std::thread([] {
        thread_local std::vector<std::shared_ptr<int>> old;
        old.push_back(nullptr);
        for (size_t i = 0; i < num_blocks; i++) {
            old.push_back(std::allocate_shared<int>(Recycling<int>(), 1));
        }
    }).join();
}

}  // namespace

int main() {
    test_distinct();
    test_taken_again();
    test_threads();
    return failures == 0 ? 0 : 1;
}
