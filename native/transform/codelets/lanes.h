#pragma once

#include <cstddef>
#include <utility>

#include "transform/codelets/kernel.h"
#ifdef __FMA__
#include <immintrin.h>
#endif

// Complex numbers in vector registers, real and imaginary parts interleaved. All of it is private to each file that
// includes it: each is compiled for an instruction set of its own.

namespace halidegym {

namespace {

// f<0>(), f<1>(), ...: registers cannot be indexed, so that nothing here may be a loop when it runs.
template <int count, typename F>
[[gnu::always_inline]] inline void unroll(F &&f) {
    [&]<int... i>(std::integer_sequence<int, i...>)
        __attribute__((always_inline)) { (f.template operator()<i>(), ...); }(std::make_integer_sequence<int, count>{});
}

template <int lanes>
struct Lanes;

using Complex [[gnu::vector_size(16)]] = double;

template <typename V>
[[gnu::always_inline]] inline V load_vector(const double *from) {
    V vector;
    __builtin_memcpy(&vector, from, sizeof(V));
    return vector;
}

template <typename V>
[[gnu::always_inline]] inline void store_vector(double *to, V vector) {
    __builtin_memcpy(to, &vector, sizeof(V));
}

template <>
struct Lanes<1> {
    using Vector = Complex;
    [[gnu::always_inline]] static Vector all(double even, double odd) { return Vector{even, odd}; }
    [[gnu::always_inline]] static Vector swap(Vector x) { return __builtin_shufflevector(x, x, 1, 0); }
    [[gnu::always_inline]] static Vector load_each(const double *from, ptrdiff_t) { return load_vector<Vector>(from); }
    [[gnu::always_inline]] static void store_each(double *to, ptrdiff_t, Vector x) { store_vector<Complex>(to, x); }
    [[gnu::always_inline]] static Vector product(Vector x, Vector w) {
        return __builtin_shufflevector(w, w, 0, 0) * x +
               __builtin_shufflevector(w, w, 1, 1) * (swap(x) * Vector{-1, 1});
    }
};

#ifdef __FMA__
template <>
struct Lanes<2> {
    using Vector [[gnu::vector_size(32)]] = double;
    [[gnu::always_inline]] static Vector all(double even, double odd) { return Vector{even, odd, even, odd}; }
    [[gnu::always_inline]] static Vector swap(Vector x) { return __builtin_shufflevector(x, x, 1, 0, 3, 2); }
    [[gnu::always_inline]] static Vector join(Complex a, Complex b) {
        return __builtin_shufflevector(a, b, 0, 1, 2, 3);
    }
    [[gnu::always_inline]] static Vector load_each(const double *from, ptrdiff_t stride) {
        return join(load_vector<Complex>(from), load_vector<Complex>(from + stride));
    }
    [[gnu::always_inline]] static void store_each(double *to, ptrdiff_t stride, Vector x) {
        store_vector<Complex>(to, __builtin_shufflevector(x, x, 0, 1));
        store_vector<Complex>(to + stride, __builtin_shufflevector(x, x, 2, 3));
    }
    [[gnu::always_inline]] static Vector product(Vector x, Vector w) {
        const Vector im = __builtin_shufflevector(w, w, 1, 1, 3, 3) * swap(x);
        return _mm256_fmaddsub_pd(__builtin_shufflevector(w, w, 0, 0, 2, 2), x, im);
    }
    [[gnu::always_inline]] static void transpose(Vector (&x)[2]) {
        const Vector first = __builtin_shufflevector(x[0], x[1], 0, 1, 4, 5);
        x[1] = __builtin_shufflevector(x[0], x[1], 2, 3, 6, 7);
        x[0] = first;
    }
};
#endif

#ifdef __AVX512F__
template <>
struct Lanes<4> {
    using Vector [[gnu::vector_size(64)]] = double;
    [[gnu::always_inline]] static Vector all(double even, double odd) {
        return Vector{even, odd, even, odd, even, odd, even, odd};
    }
    [[gnu::always_inline]] static Vector swap(Vector x) {
        return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
    }
    [[gnu::always_inline]] static Vector load_each(const double *from, ptrdiff_t stride) {
        const auto low = Lanes<2>::load_each(from, stride);
        const auto high = Lanes<2>::load_each(from + 2 * stride, stride);
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
    [[gnu::always_inline]] static void store_each(double *to, ptrdiff_t stride, Vector x) {
        Lanes<2>::store_each(to, stride, __builtin_shufflevector(x, x, 0, 1, 2, 3));
        Lanes<2>::store_each(to + 2 * stride, stride, __builtin_shufflevector(x, x, 4, 5, 6, 7));
    }
    [[gnu::always_inline]] static Vector product(Vector x, Vector w) {
        const Vector im = __builtin_shufflevector(w, w, 1, 1, 3, 3, 5, 5, 7, 7) * swap(x);
        return _mm512_fmaddsub_pd(__builtin_shufflevector(w, w, 0, 0, 2, 2, 4, 4, 6, 6), x, im);
    }
    [[gnu::always_inline]] static void transpose(Vector (&x)[4]) {
        const Vector even_01 = __builtin_shufflevector(x[0], x[1], 0, 1, 4, 5, 8, 9, 12, 13);
        const Vector odd_01 = __builtin_shufflevector(x[0], x[1], 2, 3, 6, 7, 10, 11, 14, 15);
        const Vector even_23 = __builtin_shufflevector(x[2], x[3], 0, 1, 4, 5, 8, 9, 12, 13);
        const Vector odd_23 = __builtin_shufflevector(x[2], x[3], 2, 3, 6, 7, 10, 11, 14, 15);
        x[0] = __builtin_shufflevector(even_01, even_23, 0, 1, 4, 5, 8, 9, 12, 13);
        x[1] = __builtin_shufflevector(odd_01, odd_23, 0, 1, 4, 5, 8, 9, 12, 13);
        x[2] = __builtin_shufflevector(even_01, even_23, 2, 3, 6, 7, 10, 11, 14, 15);
        x[3] = __builtin_shufflevector(odd_01, odd_23, 2, 3, 6, 7, 10, 11, 14, 15);
    }
};
#endif

}  // namespace

}  // namespace halidegym
