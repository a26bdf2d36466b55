#include "transform/text.h"

#include <array>
#include <charconv>
#include <optional>

#include "problem/error.h"

namespace halidegym {

namespace {

std::optional<SplitPlace> place_of(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(SplitPlace::Scratch); i++) {
        if (const auto place = static_cast<SplitPlace>(i); name == name_of(place)) {
            return place;
        }
    }
    return std::nullopt;
}

class PlanReader {
public:
    PlanReader(std::string_view text, bool may_be_open) : text_(text), may_be_open_(may_be_open) {}

    // Steps are checked as they are read, which bounds the depth.
    PlanNodeRef node(const TransformProblem &problem) {
        skip_spaces();
        const size_t start = at_;
        if (may_be_open_ && text_.substr(at_).starts_with('?')) {
            at_++;
            return nullptr;
        }
        PlanNode node{step(), nullptr, nullptr};
        if (!applies(node.step, problem)) {
            fail(start, to_string(node.step) + " does not apply to the problem " + to_string(problem) +
                            "; among the steps that do are " +
                            to_string(steps_of(problem, {.rules = StepRules::Wide})));
        }
        const SubProblems subs = sub_problems(problem, node.step);
        for (size_t i = 0; i < subs.size(); i++) {
            expect('(');
            (i == 0 ? node.first : node.second) = this->node(subs[i].problem);
            expect(')');
        }
        return std::make_shared<const PlanNode>(std::move(node));
    }

    TransformStep step() {
        const size_t start = at_;
        const std::string_view kind = word();
        if (kind == "codelet") {
            return {.kind = StepKind::Codelet, .parameter = number()};
        }
        if (kind == "loop") {
            return {.kind = StepKind::Loop, .parameter = number()};
        }
        if (kind == "split") {
            const uint16_t radix = number();
            skip_spaces();
            const size_t at_place = at_;
            const auto place = place_of(word());
            if (!place) {
                fail(at_place, "a split needs one of inplace, across, along, rows, columns, scratch");
            }
            return {.kind = StepKind::Split, .place = *place, .parameter = radix};
        }
        fail(start, "a step begins with codelet, loop or split");
    }

    void expect_end() {
        skip_spaces();
        if (at_ < text_.size()) {
            fail(at_, "the plan is complete here; leave out the rest");
        }
    }

private:
    [[noreturn]] void fail(size_t position, const std::string &reason) const {
        throw InvalidParameter("a plan cannot be read at position " + std::to_string(position) + " of \"" +
                               std::string(text_.substr(0, 200)) + (text_.size() > 200 ? "..." : "") + "\": " + reason);
    }

    void skip_spaces() {
        while (at_ < text_.size() && text_[at_] == ' ') {
            at_++;
        }
    }

    std::string_view word() {
        skip_spaces();
        const size_t start = at_;
        while (at_ < text_.size() && text_[at_] >= 'a' && text_[at_] <= 'z') {
            at_++;
        }
        return text_.substr(start, at_ - start);
    }

    uint16_t number() {
        skip_spaces();
        uint16_t value = 0;
        const char *begin = text_.data() + at_;
        const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
        if (error != std::errc()) {
            fail(at_, "there must be a number up to 65535");
        }
        at_ += static_cast<size_t>(end - begin);
        return value;
    }

    void expect(char wanted) {
        skip_spaces();
        if (at_ >= text_.size() || text_[at_] != wanted) {
            fail(at_, std::string("there must be '") + wanted + "'");
        }
        at_++;
    }

    std::string_view text_;
    bool may_be_open_;
    size_t at_ = 0;
};

}  // namespace

PlanNodeRef parse_plan(const TransformProblem &problem, std::string_view text) {
    PlanReader reader(text, false);
    PlanNodeRef root = reader.node(problem);
    reader.expect_end();
    return root;
}

PlanNodeRef parse_partial_plan(const TransformProblem &problem, std::string_view text) {
    PlanReader reader(text, true);
    PlanNodeRef root = reader.node(problem);
    reader.expect_end();
    return root;
}

std::string to_string(const PlanNode *plan) {
    if (!plan) {
        return "?";
    }
    std::string text = to_string(plan->step);
    const std::array children{plan->first.get(), plan->second.get()};
    for (size_t i = 0; i < num_sub_problems(plan->step.kind); i++) {
        text += " (" + to_string(children[i]) + ")";
    }
    return text;
}

}  // namespace halidegym
