#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/planners.h"
#include "bindings/topics.h"
#include "search/graph/tag.h"
#include "search/graph/uct.h"

namespace py = pybind11;

namespace halidegym {

namespace {

PythonResult run_tag(const py::object &space, const TagOptions &options, const Limits &limits) {
    return search_any(space, limits,
                      [&](auto &searched, const Budget &budget) { return tag_search(searched, options, budget); });
}

PythonResult run_uct(const py::object &space, const UctOptions &options, const Limits &limits) {
    return search_any(space, limits,
                      [&](auto &searched, const Budget &budget) { return uct_search(searched, options, budget); });
}

}  // namespace

void bind_search_tag(py::module_ &m) {
    OptionsClass<TagOptions>(m, "TagOptions", "Parameters of threshold ascent on a graph.")
        .add("best_rewards", &TagOptions::best_rewards)
        .add("delta", &TagOptions::delta)
        .add_nested("merge", &TagOptions::graph, &GraphSearchOptions::merge)
        .add_nested("seed", &TagOptions::graph, &GraphSearchOptions::seed);
    def_planner<TagOptions>(m, "tag_search", &run_tag, options_argument<TagOptions>());

    OptionsClass<UctOptions>(m, "UctOptions", "Parameters of upper confidence bounds on a tree.")
        .add("exploration", &UctOptions::exploration)
        .add_nested("merge", &UctOptions::graph, &GraphSearchOptions::merge)
        .add_nested("seed", &UctOptions::graph, &GraphSearchOptions::seed);
    def_planner<UctOptions>(m, "uct_search", &run_uct, options_argument<UctOptions>());
}

}  // namespace halidegym
