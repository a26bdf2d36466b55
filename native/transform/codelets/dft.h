#pragma once

#include "transform/codelets/lanes.h"
#include "transform/codelets/roots.h"

// Transforms of so many vectors in registers, each lane on its own, in place and in natural order.

namespace halidegym {

namespace {

template <int lanes>
struct Dft {
    using L = Lanes<lanes>;
    using V = typename L::Vector;

    [[gnu::always_inline]] static V all(double x) { return L::all(x, x); }

    // Multiplying by i swaps the parts and negates one, which a multiply-add does on the way.
    [[gnu::always_inline]] static V times(V x, Root w) { return x * all(w.re) + L::swap(x) * L::all(-w.im, w.im); }

    // x times exp(-2 pi i k / n).
    template <int k, int n>
    [[gnu::always_inline]] static V turned(V x) {
        constexpr Root root = root_of_unity(k, n);
        if constexpr (k % n == 0) {
            return x;
        } else if constexpr (root.re == 0) {
            return L::swap(x) * L::all(-root.im, root.im);
        } else if constexpr (8 * k % n == 0) {
            constexpr double sign = root.im / root.re;  // 1 or -1
            return (x + L::swap(x) * L::all(-sign, sign)) * all(root.re);
        } else {
            return times(x, root);
        }
    }

    template <int n>
    [[gnu::always_inline]] static void transform(V (&x)[n]) {
        if constexpr (n == 2) {
            const V sum = x[0] + x[1];
            x[1] = x[0] - x[1];
            x[0] = sum;
        } else if constexpr (n == 4) {
            const V even = x[0] + x[2], odd = x[1] + x[3];
            const V even_difference = x[0] - x[2], odd_difference = L::swap(x[1] - x[3]);
            x[0] = even + odd;
            x[1] = even_difference + odd_difference * L::all(1, -1);
            x[2] = even - odd;
            x[3] = even_difference - odd_difference * L::all(1, -1);
        } else if constexpr (n % 2 == 1) {
            transform_odd(x);
        } else {
            transform_product<n == 8 ? 2 : 4>(x);
        }
    }

    // A prime, by the sums and differences of opposite elements.
    template <int n>
    [[gnu::always_inline]] static void transform_odd(V (&x)[n]) {
        constexpr int half = n / 2;
        V sums[half], differences[half];
        V total = x[0];
        unroll<half>([&]<int i>() __attribute__((always_inline)) {
            sums[i] = x[i + 1] + x[n - 1 - i];
            differences[i] = L::swap(x[i + 1] - x[n - 1 - i]);
            total += sums[i];
        });
        unroll<half>([&]<int k>() __attribute__((always_inline)) {
            V symmetric = x[0], turned = {};
            unroll<half>([&]<int i>() __attribute__((always_inline)) {
                constexpr Root root = root_of_unity((i + 1) * (k + 1), n);
                symmetric += sums[i] * all(root.re);
                turned += differences[i] * L::all(-root.im, root.im);
            });
            x[k + 1] = symmetric + turned;
            x[n - 1 - k] = symmetric - turned;
        });
        x[0] = total;
    }

    // n = p * q: p transforms of q, then q of p.
    template <int p, int n>
    [[gnu::always_inline]] static void transform_product(V (&x)[n]) {
        constexpr int q = n / p;
        V parts[p][q];
        unroll<p>([&]<int i>() __attribute__((always_inline)) {
            unroll<q>([&]<int j>() __attribute__((always_inline)) { parts[i][j] = x[i + p * j]; });
            transform<q>(parts[i]);
            unroll<q>([&]<int k>() __attribute__((always_inline)) { parts[i][k] = turned<i * k, n>(parts[i][k]); });
        });
        unroll<q>([&]<int k>() __attribute__((always_inline)) {
            V across[p];
            unroll<p>([&]<int i>() __attribute__((always_inline)) { across[i] = parts[i][k]; });
            transform<p>(across);
            unroll<p>([&]<int l>() __attribute__((always_inline)) { x[k + q * l] = across[l]; });
        });
    }
};

}  // namespace

}  // namespace halidegym
