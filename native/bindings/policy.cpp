#include "policy/policy.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <optional>

#include "bindings/array_argument.h"
#include "bindings/expansion.h"
#include "bindings/native_work.h"
#include "bindings/topics.h"
#include "bindings/values.h"

namespace py = pybind11;

namespace halidegym {

namespace {

using WeightArray = ArrayArgument<float, py::array::forcecast>;

std::shared_ptr<PolicyNetwork> make_network(const std::map<std::string, WeightArray> &arrays, int width, int rounds,
                                            int loops, bool use_stage_features, bool use_edge_features,
                                            bool use_demands, std::optional<InstructionSet> instruction_set) {
    std::vector<NamedArray> named;
    for (const auto &[name, array] : arrays) {
        named.push_back({name, {array.shape(), array.shape() + array.ndim()}, elements(array)});
    }
    return std::make_shared<PolicyNetwork>(
        PolicyConfig{width, rounds, loops, use_stage_features, use_edge_features, use_demands}, named,
        instruction_set.value_or(available_instruction_sets().back()));
}

std::vector<Decision> chosen(const BoundExpansion &expansion, const std::optional<std::vector<int64_t>> &actions) {
    if (!actions) {
        return {expansion.decisions().begin(), expansion.decisions().end()};
    }
    std::vector<Decision> decisions;
    for (const int64_t action : *actions) {
        decisions.push_back(expansion.decision(action));
    }
    return decisions;
}

py::array_t<float> to_array(std::span<const float> values) {
    return py::array_t<float>(static_cast<py::ssize_t>(values.size()), values.data());
}

// What `ask(children, decisions, scratch)` says. It gets an expansion of its own, so that threads that use the given
// one need not wait.
template <typename Ask>
py::array_t<float> logits(const BoundExpansion &expansion, const std::optional<std::vector<int64_t>> &actions,
                          const Ask &ask) {
    const std::vector<Decision> decisions = chosen(expansion, actions);
    Policy::Scratch scratch;
    const std::span<const float> found = [&] {
        const UnlockedWork work;
        Expansion children(expansion.state(), Expansion::Unlisted{});
        return ask(children, decisions, scratch);
    }();
    return to_array(found);
}

py::array_t<float> blind_logits(const Policy &policy, const BoundExpansion &expansion,
                                const std::optional<std::vector<int64_t>> &actions) {
    return logits(expansion, actions, [&](auto &children, const auto &decisions, auto &scratch) {
        return policy.blind_logits(children, decisions, scratch);
    });
}

py::array_t<float> child_logits(const Policy &policy, const BoundExpansion &expansion,
                                const std::optional<std::vector<int64_t>> &actions) {
    return logits(expansion, actions, [&](auto &children, const auto &decisions, auto &scratch) {
        ChildReader reader(expansion.state().space_ref());
        return policy.child_logits(children, decisions, reader.read(children, decisions, 1), scratch);
    });
}

float value(const Policy &policy, const State &state, double relative_cost) {
    Policy::Scratch scratch;
    const UnlockedWork work;
    return policy.value(state, relative_cost, scratch);
}

}  // namespace

void bind_policy(py::module_ &m) {
    py::class_<PolicyNetwork, std::shared_ptr<PolicyNetwork>> network(
        m, "PolicyNetwork", "The weights of a policy, ready to be asked; an immutable value.");
    const PolicyConfig defaults;
    network.def(py::init(&make_network), py::arg("arrays"), py::kw_only(), py::arg("width") = defaults.width,
                py::arg("rounds") = defaults.rounds, py::arg("loops") = defaults.loops,
                py::arg("use_stage_features") = defaults.use_stage_features,
                py::arg("use_edge_features") = defaults.use_edge_features,
                py::arg("use_demands") = defaults.use_demands, py::arg("instruction_set") = py::none());
    def_copies(network);
    py::class_<Policy, std::shared_ptr<Policy>> policy(
        m, "Policy", "A network on one problem, whose encoding it keeps; an immutable value.");
    policy
        .def(py::init([](std::shared_ptr<PolicyNetwork> of, const std::shared_ptr<Space> &space) {
                 const UnlockedWork work;
                 return std::make_shared<Policy>(std::move(of), space);
             }),
             py::arg("network").none(false), py::arg("space").none(false))
        .def("blind_logits", &blind_logits, py::arg("expansion"), py::arg("actions") = py::none())
        .def("child_logits", &child_logits, py::arg("expansion"), py::arg("actions") = py::none())
        .def("value", &value, py::arg("state"), py::arg("relative_cost"));
    def_copies(policy);
}

}  // namespace halidegym
