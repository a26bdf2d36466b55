#pragma once

#include <memory>
#include <span>
#include <vector>

namespace halidegym {

// The n-th roots of unity, of which the twiddles of all steps of a transform of size n are.
class TwiddleRoots {
public:
    explicit TwiddleRoots(int n);

    int n() const { return n_; }
    // For a split of size = m * r, where size divides n: w_size^(jk) at 2 * (j*m + k), or by columns at 2 * (k*r + j).
    void fill(std::span<double> twiddles, int size, int r, bool by_columns) const;

private:
    int n_;
    std::vector<double> roots_;  // [2 * n]
};

using TwiddleRootsRef = std::shared_ptr<const TwiddleRoots>;

}  // namespace halidegym
