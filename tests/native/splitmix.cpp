// Random numbers: the values are written down, so that a seed gives the same search with every C++ library.

#include "search/spaces/splitmix.h"

#include <random>

#include "example_problem.h"

using namespace halidegym;

namespace {

void test_values() {
    SplitMix64 random(0);
    expect_equal("the generator", random(), 0xe220a8397b1dcdafu);
    SplitMix64 below(0);
    expect_equal("its share of the bound", uniform_below(below, 10), 8u);
    expect_equal("the next one's", uniform_below(below, 1000), 431u);
    SplitMix64 certain(0);
    expect("certain and impossible", draw_bool(certain, 1) && !draw_bool(certain, 0));
    SplitMix64 close(0);
    expect("just above the first", draw_bool(close, 0.883311));
    close = SplitMix64(0);
    expect("just below it", !draw_bool(close, 0.883310));
}

// A bound for which a quarter of the generator's values would be too many.
void test_all_are_equally_likely() {
    std::mt19937_64 random(1);
    const uint64_t bound = uint64_t{3} << 62;
    int low = 0;
    for (int i = 0; i < 30000; i++) {
        const uint64_t drawn = uniform_below(random, bound);
        expect("below the bound", drawn < bound);
        low += drawn < bound / 3 ? 1 : 0;
    }
    expect("a third is in the first third", low > 9700 && low < 10300);
    for (int i = 0; i < 100; i++) {
        expect_equal("no choice", uniform_below(random, 1), 0u);
    }
}

}  // namespace

int main() {
    test_values();
    test_all_are_equally_likely();
    return failures == 0 ? 0 : 1;
}
