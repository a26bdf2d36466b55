#pragma once

#include "transform/codelets/codelet.h"

// The kernels of one number of lanes, for a file that is compiled for it.

namespace halidegym {

namespace {

template <int... sizes>
struct Sizes {};

template <AccessModes... modes>
struct Modes {};

template <size_t count>
struct KernelEntries {
    KernelEntry values[count];
};

template <int lanes, int... sizes, AccessModes... modes>
constexpr auto kernel_entries(Sizes<sizes...>, Modes<modes...>) {
    KernelEntries<sizeof...(sizes) * sizeof...(modes)> entries{};
    size_t at = 0;
    const auto add = [&]<int size>() {
        ((entries.values[at++] = {size, modes, Codelet<size, lanes, modes>::run}), ...);
    };
    (add.template operator()<sizes>(), ...);
    return entries;
}

template <size_t count>
constexpr KernelTable table_of(const KernelEntries<count> &entries) {
    return {entries.values, count};
}

using AllSizes = Sizes<2, 3, 4, 5, 7, 8, 16, 32, 64>;

// Those that the rules for steps produce.
constexpr LoadMode load_contiguous = LoadMode::Contiguous, load_each = LoadMode::OneByOne;
constexpr StoreMode store_contiguous = StoreMode::Contiguous, store_each = StoreMode::OneByOne;
constexpr StoreMode transpose = StoreMode::Transposed;
constexpr TwiddleMode none = TwiddleMode::None, contiguous = TwiddleMode::Contiguous;
constexpr TwiddleMode broadcast = TwiddleMode::Broadcast, twiddle_each = TwiddleMode::OneByOne;

using AllModes =
    Modes<AccessModes{load_contiguous, store_contiguous, none}, AccessModes{load_contiguous, transpose, none},
          AccessModes{load_contiguous, store_each, none}, AccessModes{load_each, store_contiguous, none},
          AccessModes{load_each, transpose, none}, AccessModes{load_each, store_each, none},
          AccessModes{load_contiguous, store_contiguous, contiguous},
          AccessModes{load_contiguous, transpose, contiguous}, AccessModes{load_contiguous, store_each, contiguous},
          AccessModes{load_each, store_each, contiguous}, AccessModes{load_contiguous, store_contiguous, broadcast},
          AccessModes{load_contiguous, store_each, broadcast}, AccessModes{load_each, store_each, broadcast},
          AccessModes{load_each, store_contiguous, twiddle_each}, AccessModes{load_each, transpose, twiddle_each},
          AccessModes{load_each, store_each, twiddle_each}>;

// A single column is contiguous in itself.
using ModesOfOneLane = Modes<AccessModes{load_contiguous, store_contiguous, none},
                             AccessModes{load_contiguous, store_contiguous, contiguous}>;

}  // namespace

}  // namespace halidegym
