#include "halide/match_funcs.h"

#include <map>
#include <set>
#include <string>

#include "halide/existing_schedule.h"
#include "halide/func_graph.h"
#include "problem/error.h"

namespace halidegym {

using namespace Halide::Internal;

namespace {

// The Funcs that a Func calls, each once, in the order in which its definitions first call them.
class Callees : public IRGraphVisitor {
public:
    explicit Callees(const Function &function) {
        function.accept(this);
        std::erase_if(found_, [&](const Function &callee) { return callee.same_as(function); });
    }

    const std::vector<Function> &found() const { return found_; }

private:
    using IRGraphVisitor::visit;

    void visit(const Call *op) override {
        if (op->func.defined()) {
            add(Function(op->func));
        }
        IRGraphVisitor::visit(op);
    }

    void add(const Function &function) {
        if (names_.insert(function.name()).second) {
            found_.push_back(function);
        }
    }

    std::vector<Function> found_;
    std::set<std::string> names_;
};

class Matching {
public:
    explicit Matching(const Problem &problem) : problem_(problem) {}

    std::vector<Halide::Func> run(const Halide::Pipeline &original, const Halide::Pipeline &pipeline) {
        require(original.defined() && pipeline.defined(), "has no outputs");
        const std::vector<Halide::Func> outputs = original.outputs(), others = pipeline.outputs();
        require(outputs.size() == others.size(), "has", others.size(), outputs.size(), "outputs");
        for (size_t i = 0; i < outputs.size(); i++) {
            match(outputs[i].function(), others[i].function());
        }
        std::vector<Halide::Func> funcs;
        for (const Node &node : problem_.nodes) {
            const auto found = found_.find(node.name);
            require(found != found_.end(), "has no Func '" + node.name + "'");
            funcs.emplace_back(found->second);
        }
        return funcs;
    }

private:
    void match(const Function &ours, const Function &theirs) {
        const auto [known, is_new] = found_.try_emplace(ours.name(), theirs);
        const auto [owner, is_unclaimed] = owners_.try_emplace(theirs.name(), ours.name());
        if (!is_new || !is_unclaimed) {
            if (!known->second.same_as(theirs) || owner->second != ours.name()) {
                refuse("calls '" + theirs.name() + "' in the place of '" + ours.name() + "', and '" +
                       known->second.name() + "' or '" + owner->second + "' elsewhere");
            }
            return;
        }
        check(ours, theirs);
        const std::vector<Function> callees = Callees(ours).found(), others = Callees(theirs).found();
        require(callees.size() == others.size(), title(ours, theirs) + "calls", others.size(), callees.size(),
                "other Funcs");
        for (size_t i = 0; i < callees.size(); i++) {
            match(callees[i], others[i]);
        }
    }

    void check(const Function &ours, const Function &theirs) const {
        const std::string has = title(ours, theirs) + "has";
        require(ours.dimensions() == theirs.dimensions(), has, theirs.dimensions(), ours.dimensions(), "dimensions");
        require(ours.outputs() == theirs.outputs(), title(ours, theirs) + "has other types than '" + ours.name() + "'");
        require(!theirs.has_extern_definition(), title(ours, theirs) + "is not defined like '" + ours.name() + "'");
        const std::string schedule = existing_schedule(theirs);
        if (!schedule.empty()) {
            throw InvalidParameter("The Func '" + theirs.name() + "' has a schedule already (" + schedule +
                                   "). Apply the schedule of '" + problem_.name + "' to a pipeline without one.");
        }
        require(num_stages(ours) == num_stages(theirs), has, num_stages(theirs), num_stages(ours), "definitions");
        for (int s = 0; s < num_stages(ours); s++) {
            const Definition &a = definition_of(ours, s), &b = definition_of(theirs, s);
            const size_t loops = b.schedule().dims().size(), wanted = a.schedule().dims().size();
            const size_t reductions = b.schedule().rvars().size(), domain = a.schedule().rvars().size();
            require(loops == wanted, has, loops - 1, wanted - 1, "loops" + of_update(s));
            require(reductions == domain, has, reductions, domain, "reduction variables" + of_update(s));
        }
    }

    static std::string of_update(int stage) { return stage == 0 ? "" : " in its update " + std::to_string(stage - 1); }

    static std::string title(const Function &ours, const Function &theirs) {
        return "has a Func '" + theirs.name() + "' in the place of '" + ours.name() + "', which ";
    }

    template <typename Count>
    void require(bool condition, const std::string &has, Count found, Count wanted, const std::string &what) const {
        require(condition, has + " " + std::to_string(found) + " and not " + std::to_string(wanted) + " " + what);
    }

    void require(bool condition, const std::string &difference) const {
        if (!condition) {
            refuse(difference);
        }
    }

    [[noreturn]] void refuse(const std::string &difference) const {
        throw InvalidParameter("This is not the pipeline that the schedule was made for, '" + problem_.name + "': it " +
                               difference + ". Apply the schedule to a pipeline that is built in the same way.");
    }

    const Problem &problem_;
    std::map<std::string, Function> found_;      // by the name of the original
    std::map<std::string, std::string> owners_;  // the name of the original, by the other one's
};

}  // namespace

std::vector<Halide::Func> match_funcs(const Problem &problem, const Halide::Pipeline &original,
                                      const Halide::Pipeline &pipeline) {
    return Matching(problem).run(original, pipeline);
}

}  // namespace halidegym
