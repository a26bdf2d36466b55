#pragma once

#include <cmath>
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

// Draws are written out here because those of the standard library differ between its implementations, and a seed has
// to give the same search everywhere.

// A number below the bound, each as likely as the others (Lemire 2019, "Fast random integer generation in an
// interval").
template <typename Random>
uint64_t uniform_below(Random &random, uint64_t bound) {
    static_assert(Random::min() == 0 && Random::max() == std::numeric_limits<uint64_t>::max());
    __extension__ using Wide = unsigned __int128;
    Wide product = Wide{random()} * bound;
    if (static_cast<uint64_t>(product) < bound) {
        const uint64_t unfair = (0 - bound) % bound;
        while (static_cast<uint64_t>(product) < unfair) {
            product = Wide{random()} * bound;
        }
    }
    return static_cast<uint64_t>(product >> 64);
}

// From 0 to below 1, in steps of 2^-53.
template <typename Random>
double draw_unit(Random &random) {
    static_assert(Random::min() == 0 && Random::max() == std::numeric_limits<uint64_t>::max());
    return static_cast<double>(random() >> 11) * 0x1p-53;
}

// Of the standard Gumbel distribution: the places of the largest sums of it and log probabilities are a sample without
// repetition (Kool et al. 2019, section 2).
template <typename Random>
double draw_gumbel(Random &random) {
    return -std::log(-std::log(draw_unit(random) + 0x1p-54));
}

// True with this probability.
template <typename Random>
bool draw_bool(Random &random, double probability) {
    return draw_unit(random) < probability;
}

// A seed for the index-th of many streams.
inline uint64_t split_seed(uint64_t seed, uint64_t index) {
    return SplitMix64(SplitMix64(seed)() ^ index)();
}

}  // namespace halidegym
