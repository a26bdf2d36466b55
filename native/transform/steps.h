#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transform/problem.h"

namespace halidegym {

enum class StepKind : uint8_t { Codelet, Loop, Split };

// That a step of this kind leaves.
constexpr size_t num_sub_problems(StepKind kind) {
    return kind == StepKind::Codelet ? 0 : kind == StepKind::Loop ? 1 : 2;
}

// Where a split keeps what its first half has computed, and how its second half goes over it. Of one column: in the
// output, or in scratch memory by rows or by columns. Of several: in the output, all columns of a row at once (across)
// or all rows of a column (along), or in scratch memory, across.
enum class SplitPlace : uint8_t { Inplace, Across, Along, Rows, Columns, Scratch };

const char *name_of(SplitPlace place);
constexpr bool uses_scratch(SplitPlace place) {
    return place >= SplitPlace::Rows;
}

// What is decided about a problem.
//
// codelet L            the transform in registers, L columns at a time, the rest of them one by one
// loop b               the same problem for b columns, as often as it takes
// split r place A B    n = r * m (Cooley and Tukey): first A makes r transforms of size m, then B, which multiplies
//                      with twiddles as it loads, m of size r, of each column
struct TransformStep {
    StepKind kind = StepKind::Codelet;
    SplitPlace place = SplitPlace::Inplace;  // of a split
    uint16_t parameter = 1;                  // L, b or r

    // The order in which steps are offered.
    friend auto operator<=>(const TransformStep &, const TransformStep &) = default;
};

// As in the text of a plan, without the sub-plans.
std::string to_string(const TransformStep &step);

// A problem that a step leaves behind. It runs several times, and each run begins at these offsets after the one before
// it: in what it reads, in what it writes, in the twiddles it multiplies with.
struct SubProblem {
    TransformProblem problem;
    int runs = 1;
    int in_step = 0, out_step = 0, twiddle_step = 0;
};

// Those of one step: none of a codelet; of a loop, its body; of a split, A and B. A reads what the problem reads, with
// its twiddles, and writes the buffer of the place; B reads that buffer, with twiddles of the split's own, and writes
// what the problem writes.
class SubProblems {
public:
    void push_back(const SubProblem &sub) { items_[size_++] = sub; }
    size_t size() const { return size_; }
    const SubProblem &operator[](size_t i) const { return items_[i]; }
    const SubProblem *begin() const { return items_.data(); }
    const SubProblem *end() const { return items_.data() + size_; }

private:
    std::array<SubProblem, 2> items_;
    size_t size_ = 0;
};

// Of a step that applies.
SubProblems sub_problems(const TransformProblem &problem, const TransformStep &step);

// Complex numbers that a step needs for what its first half has computed.
int scratch_size(const TransformProblem &problem, const TransformStep &step);

// Twiddles of a split: B multiplies its input j of row k with w_n^(jk), which stands at j*m + k, or for Columns at
// k*r + j.
int num_twiddles(const TransformProblem &problem, const TransformStep &step);

// Whether a step means something for a problem; a plan may consist of any such steps.
bool applies(const TransformStep &step, const TransformProblem &problem);

// Which of them a space offers.
enum class StepRules : uint8_t {
    Basic,  // no scratch memory, loops over single columns, the widest vectors that the columns fill
    Lanes,  // all vectors
    Wide,   // all places and radices, loops over 1, 4 and 16 columns
};

struct TransformRules {
    StepRules rules = StepRules::Basic;
    std::vector<int> lanes{codelet_lanes.begin(), codelet_lanes.end()};  // ascending, 1 among them

    friend bool operator==(const TransformRules &, const TransformRules &) = default;
};

// Throws InvalidParameter.
void check(const TransformRules &rules);

// The steps that apply, in a fixed order: codelets, loops, splits by place and radix. Every problem that can be reached
// by them has some.
std::vector<TransformStep> steps_of(const TransformProblem &problem, const TransformRules &rules);

// For messages.
std::string to_string(const std::vector<TransformStep> &steps);

}  // namespace halidegym
