#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/planners.h"
#include "bindings/topics.h"
#include "search/graph/tag.h"
#include "search/graph/uct.h"

namespace py = pybind11;

namespace halidegym {

namespace {

PythonResult run_tag(const py::object &space, int best_rewards, double delta, bool merge, uint32_t seed,
                     std::optional<double> seconds, std::optional<int64_t> evaluations,
                     std::optional<int64_t> expansions, py::object on_progress) {
    return search_any(space, {seconds, evaluations, expansions, std::move(on_progress)},
                      [&](auto &searched, const Budget &budget) {
                          return tag_search(searched, {best_rewards, delta, {merge, seed}}, budget);
                      });
}

PythonResult run_uct(const py::object &space, double exploration, bool merge, uint32_t seed,
                     std::optional<double> seconds, std::optional<int64_t> evaluations,
                     std::optional<int64_t> expansions, py::object on_progress) {
    return search_any(space, {seconds, evaluations, expansions, std::move(on_progress)},
                      [&](auto &searched, const Budget &budget) {
                          return uct_search(searched, {exploration, {merge, seed}}, budget);
                      });
}

}  // namespace

void bind_search_tag(py::module_ &m) {
    m.def("tag_search", &run_tag, py::arg("space"), py::kw_only(), py::arg("best_rewards") = 100,
          py::arg("delta") = 1.0, py::arg("merge") = true, py::arg("seed") = 0, py::arg("max_seconds") = py::none(),
          py::arg("max_evaluations") = py::none(), py::arg("max_expansions") = py::none(),
          py::arg("on_progress") = py::none());
    m.def("uct_search", &run_uct, py::arg("space"), py::kw_only(), py::arg("exploration") = std::sqrt(2.0),
          py::arg("merge") = false, py::arg("seed") = 0, py::arg("max_seconds") = py::none(),
          py::arg("max_evaluations") = py::none(), py::arg("max_expansions") = py::none(),
          py::arg("on_progress") = py::none());
}

}  // namespace halidegym
