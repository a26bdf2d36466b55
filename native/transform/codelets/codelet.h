#pragma once

#include "transform/codelets/dft.h"

// Kernels for columns of one size, as many at a time as a vector register has lanes.

namespace halidegym {

namespace {

template <int size, int lanes, AccessModes modes>
struct Codelet {
    using L = Lanes<lanes>;
    using V = typename L::Vector;

    // Whether a group of columns fits into the registers. Larger ones go through memory between `parts` transforms of
    // size `rest` and `rest` transforms of size `parts`, which run in loops: code stays short.
    static constexpr bool is_whole = size <= 16;
    static constexpr int parts = size == 32 ? 4 : 8;
    static constexpr int rest = size / parts;

    // One of the groups, strides in doubles.
    struct Group {
        const double *in, *twiddles;
        double *out;
        ptrdiff_t is, os, iv, ov, ws, wv;
        bool first_is_one;

        Group(const Columns &of, const double *from, double *to, const double *scaling)
            : in(from), twiddles(scaling), out(to), is(2 * of.is), os(2 * of.os), iv(2 * of.iv), ov(2 * of.ov),
              ws(2 * of.ws), wv(2 * of.wv), first_is_one(of.first_is_one) {}

        [[gnu::always_inline]] void advance() {
            in += lanes * iv;
            out += lanes * ov;
            if constexpr (modes.twiddle != TwiddleMode::None) {
                twiddles += lanes * wv;
            }
        }
    };

    // Element j of each column, times its twiddle.
    [[gnu::always_inline]] static V load(const Group &group, ptrdiff_t j) {
        const double *from = group.in + j * group.is;
        const V x = modes.load == LoadMode::Contiguous ? load_vector<V>(from) : L::load_each(from, group.iv);
        if constexpr (modes.twiddle == TwiddleMode::None) {
            return x;
        }
        if (j == 0 && group.first_is_one) {
            return x;
        }
        const double *twiddle = group.twiddles + j * group.ws;
        if constexpr (modes.twiddle == TwiddleMode::Contiguous) {
            return L::product(x, load_vector<V>(twiddle));
        } else if constexpr (modes.twiddle == TwiddleMode::Broadcast) {
            return Dft<lanes>::times(x, {twiddle[0], twiddle[1]});
        } else {
            return L::product(x, L::load_each(twiddle, group.wv));
        }
    }

    // Elements k, k + 1, ... of each column.
    template <int count>
    [[gnu::always_inline]] static void store(const Group &group, ptrdiff_t k, V (&x)[count]) {
        constexpr int blocks = modes.store == StoreMode::Transposed ? count / lanes : 0;
        if constexpr (blocks > 0) {
            unroll<blocks>([&]<int block>() __attribute__((always_inline)) {
                V rows[lanes];
                unroll<lanes>([&]<int row>() __attribute__((always_inline)) { rows[row] = x[block * lanes + row]; });
                L::transpose(rows);
                unroll<lanes>([&]<int column>() __attribute__((always_inline)) {
                    store_vector(group.out + 2 * (k + block * lanes) + column * group.ov, rows[column]);
                });
            });
        }
        unroll<count - blocks * lanes>([&]<int i>() __attribute__((always_inline)) {
            constexpr int row = blocks * lanes + i;
            double *to = group.out + (k + row) * group.os;
            if constexpr (modes.store == StoreMode::Contiguous) {
                store_vector(to, x[row]);
            } else {
                L::store_each(to, group.ov, x[row]);
            }
        });
    }

    [[gnu::always_inline]] static void run_whole(const Group &group) {
        V x[size];
        unroll<size>([&]<int j>() __attribute__((always_inline)) { x[j] = load(group, j); });
        Dft<lanes>::transform(x);
        store(group, 0, x);
    }

    struct Roots {
        Root values[size];
        constexpr Roots() : values() {
            for (int i = 0; i < parts; i++) {
                for (int k = 0; k < rest; k++) {
                    values[i * rest + k] = root_of_unity(i * k, size);
                }
            }
        }
    };
    static constexpr Roots roots{};

    [[gnu::always_inline]] static void run_in_parts(const Group &group) {
        V between[size];
#pragma GCC unroll 1
        for (int i = 0; i < parts; i++) {
            V x[rest];
            unroll<rest>([&]<int j>() __attribute__((always_inline)) { x[j] = load(group, i + parts * j); });
            Dft<lanes>::transform(x);
            between[i * rest] = x[0];
            unroll<rest - 1>([&]<int k>() __attribute__((always_inline)) {
                between[i * rest + k + 1] = Dft<lanes>::times(x[k + 1], roots.values[i * rest + k + 1]);
            });
        }
        // Transpositions need some rows in sequence.
        constexpr bool transposes = modes.store == StoreMode::Transposed;
        constexpr int together = transposes && parts == 4 ? 4 : 1;
#pragma GCC unroll 1
        for (int k = 0; k < rest; k += together) {
            V y[parts][together];
            unroll<together>([&]<int row>() __attribute__((always_inline)) {
                V x[parts];
                unroll<parts>([&]<int i>() __attribute__((always_inline)) { x[i] = between[i * rest + k + row]; });
                Dft<lanes>::transform(x);
                unroll<parts>([&]<int l>() __attribute__((always_inline)) { y[l][row] = x[l]; });
            });
            unroll<parts>([&]<int l>() __attribute__((always_inline)) {
                if constexpr (transposes && together == 1) {
                    between[l * rest + k] = y[l][0];
                } else {
                    store(group, k + rest * l, y[l]);
                }
            });
        }
        if constexpr (transposes && together == 1) {
#pragma GCC unroll 1
            for (int k = 0; k < size; k += lanes) {
                V rows[lanes];
                unroll<lanes>([&]<int row>() __attribute__((always_inline)) { rows[row] = between[k + row]; });
                store(group, k, rows);
            }
        }
    }

    static void run(const Columns &columns, const double *in, double *out, const double *twiddles) {
        Group group(columns, in, out, twiddles);
        for (ptrdiff_t left = columns.groups; left > 0; left--, group.advance()) {
            if constexpr (is_whole) {
                run_whole(group);
            } else {
                run_in_parts(group);
            }
        }
    }
};

}  // namespace

}  // namespace halidegym
