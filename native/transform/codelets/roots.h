#pragma once

// Roots of unity, correctly rounded but for rare last bits, at compile time and when tables are made.
//
// Files compiled for an instruction set of their own include this one; so its functions are private to each file.

namespace halidegym {

namespace {

struct Root {
    double re;
    double im;
};

// Cosine (first == 0) or sine (first == 1) of an angle of at most half a right one.
constexpr long double taylor(long double x, int first) {
    long double term = first == 0 ? 1 : x;
    long double sum = term;
    for (int power = first + 2; power < 28; power += 2) {
        term *= -x * x / static_cast<long double>(power * (power - 1));
        sum += term;
    }
    return sum;
}

// exp(-2 pi i k / n)
constexpr Root root_of_unity(long long k, long long n) {
    constexpr long double pi = 3.14159265358979323846264338327950288L;
    const long long octant = 8 * (k % n) / n;
    const long long in_octant = 8 * (k % n) - octant * n;                     // n is a whole octant
    const long long from_axis = octant % 2 == 0 ? in_octant : n - in_octant;  // the nearest axis
    const long double angle = pi / 4 * static_cast<long double>(from_axis) / static_cast<long double>(n);
    const double along = static_cast<double>(taylor(angle, 0));
    const double across = static_cast<double>(taylor(angle, 1));
    switch (octant) {
    case 0:
        return {along, -across};
    case 1:
        return {across, -along};
    case 2:
        return {-across, -along};
    case 3:
        return {-along, -across};
    case 4:
        return {-along, across};
    case 5:
        return {-across, along};
    case 6:
        return {across, along};
    default:
        return {along, across};
    }
}

}  // namespace

}  // namespace halidegym
