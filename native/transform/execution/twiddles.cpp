#include "transform/execution/twiddles.h"

#include "transform/codelets/roots.h"

namespace halidegym {

TwiddleRoots::TwiddleRoots(int n) : n_(n) {
    roots_.reserve(static_cast<size_t>(2 * n));
    for (int k = 0; k < n; k++) {
        const Root root = root_of_unity(k, n);
        roots_.push_back(root.re);
        roots_.push_back(root.im);
    }
}

void TwiddleRoots::fill(std::span<double> twiddles, int size, int r, bool by_columns) const {
    const int m = size / r;
    const int outer = by_columns ? m : r, inner = by_columns ? r : m;
    double *to = twiddles.data();
    for (size_t i = 0; i < static_cast<size_t>(outer); i++) {
        const size_t step = 2 * i * static_cast<size_t>(n_ / size);  // i * inner < size, so that powers stay below n
        for (size_t k = 0, at = 0; k < static_cast<size_t>(inner); k++, at += step) {
            *to++ = roots_[at];
            *to++ = roots_[at + 1];
        }
    }
}

}  // namespace halidegym
