#pragma once

#include <cstdint>
#include <limits>

namespace halidegym {

// The generator of Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators". Its seed is all its
// state, so that every simulation of a search can have a generator of its own and be repeated from a number.
class SplitMix64 {
public:
    using result_type = uint64_t;

    explicit SplitMix64(uint64_t seed) : state_(seed) {}

    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

    result_type operator()() {
        state_ += 0x9e3779b97f4a7c15u;
        uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

private:
    uint64_t state_;
};

// A seed for the index-th of many streams.
inline uint64_t split_seed(uint64_t seed, uint64_t index) {
    return SplitMix64(SplitMix64(seed)() ^ index)();
}

}  // namespace halidegym
