#include "bindings/tree_share.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/native_work.h"
#include "bindings/values.h"
#include "env/turn.h"
#include "search/parameters.h"

namespace py = pybind11;

namespace halidegym {

namespace {

// Trees that belong to one thread at a time, and say so.
class Share : public TreeShare<ScheduleSpace> {
public:
    using TreeShare::TreeShare;

    ScheduleReports search(const ScheduleOrder &order, const KeepSearching &keep_searching) {
        const Turn turn(in_use_,
                        "Another thread is searching with these trees; give each thread a TreeShare of its own");
        return TreeShare::search(order, keep_searching);
    }

private:
    std::atomic_flag in_use_;
};

using Path = CompletePath<Decision>;

template <typename Value>
Value member(const py::tuple &pickled, size_t index) {
    return pickled[index].cast<Value>();
}

py::tuple to_tuple(const TreeLimits &limits) {
    return py::make_tuple(limits.iterations, limits.evaluations, limits.expansions, limits.seconds);
}

TreeLimits limits(const py::tuple &pickled) {
    return {member<int64_t>(pickled, 0), member<int64_t>(pickled, 1), member<int64_t>(pickled, 2),
            member<double>(pickled, 3)};
}

py::tuple to_tuple(const ScheduleOrder &order) {
    const py::object move =
        order.move ? py::object(py::make_tuple(order.move->action, order.move->decision)) : py::none();
    return py::make_tuple(move, order.lead, order.cost, to_tuple(order.limits));
}

ScheduleOrder order(const py::tuple &pickled) {
    ScheduleOrder order{std::nullopt, member<std::vector<Decision>>(pickled, 1), member<double>(pickled, 2),
                        limits(pickled[3])};
    if (!pickled[0].is_none()) {
        const auto move = member<py::tuple>(pickled, 0);
        order.move = {member<uint32_t>(move, 0), member<Decision>(move, 1)};
    }
    return order;
}

// What brings other trees to the same root, with the same knowledge of it unless the clock has decided on that.
ScheduleOrder repeated(const ScheduleOrder &order) {
    ScheduleOrder repeated = order;
    if (order.limits.seconds < std::numeric_limits<double>::infinity()) {
        repeated.limits = {.iterations = 0};
    }
    return repeated;
}

py::tuple to_tuple(const ScheduleReport &report) {
    py::object best = py::none();
    if (report.best) {
        best =
            py::make_tuple(report.best->cost, report.best->decisions, report.best->actions, report.best->num_choices);
    }
    py::list contenders;
    for (const auto &child : report.contenders) {
        contenders.append(py::make_tuple(child.decision, child.outcomes, child.sum_cost, child.best_cost));
    }
    return py::make_tuple(report.tree, report.evaluations, report.expansions, report.forwards, report.is_exhausted,
                          best, contenders);
}

ScheduleReport report(const py::tuple &pickled) {
    ScheduleReport report{member<int>(pickled, 0),
                          member<int64_t>(pickled, 1),
                          member<int64_t>(pickled, 2),
                          member<int64_t>(pickled, 3),
                          member<bool>(pickled, 4),
                          std::nullopt,
                          {}};
    if (!pickled[5].is_none()) {
        const auto best = member<py::tuple>(pickled, 5);
        report.best = Path{member<double>(best, 0), member<std::vector<Decision>>(best, 1),
                           member<std::vector<uint32_t>>(best, 2), member<int>(best, 3)};
    }
    for (const py::handle &child : member<py::list>(pickled, 6)) {
        const auto values = child.cast<py::tuple>();
        report.contenders.push_back({member<Decision>(values, 0), member<uint32_t>(values, 1),
                                     member<double>(values, 2), member<double>(values, 3)});
    }
    return report;
}

std::unique_ptr<Share> make_share(const SpaceRef &space, const MctsOptions &options, int remainder, int divisor) {
    require_from_to("divisor", divisor, 1, options.trees);
    require_from_to("remainder", remainder, 0, divisor - 1);
    return std::make_unique<Share>(ScheduleSpace(space), options, remainder, divisor);
}

std::vector<ScheduleReport> search(Share &share, const ScheduleOrder &order) {
    const UnlockedWork work;
    try {
        return share
            .search(order,
                    [](int64_t) {
                        NativeWork::check_exit();
                        return true;
                    })
            .trees;
    } catch (const std::bad_alloc &) {
        throw OutOfResources("the trees ran out of memory; give smaller parameters or a smaller budget");
    }
}

}  // namespace

void bind_tree_share(py::module_ &m) {
    py::class_<ScheduleOrder> order_type(m, "TreeOrder", "What the trees of an ensemble are told before a search.");
    order_type.def("repeated", &repeated)
        .def(py::pickle([](const ScheduleOrder &order) { return to_tuple(order); }, &order));
    def_copies(order_type);
    py::class_<ScheduleReport> report_type(m, "TreeReport", "What a tree of an ensemble tells after a search.");
    report_type.def_readonly("tree", &ScheduleReport::tree)
        .def_readonly("evaluations", &ScheduleReport::evaluations)
        .def(py::pickle([](const ScheduleReport &report) { return to_tuple(report); }, &report));
    def_copies(report_type);
    py::class_<Share>(m, "TreeShare", "Some trees of an ensemble.")
        .def(py::init(&make_share), py::arg("space").none(false), py::arg("options"), py::arg("remainder"),
             py::arg("divisor"))
        .def("search", &search, py::arg("order"));
}

ScheduleReports search_in_python(const py::object &trees, const ScheduleOrder &order,
                                 const KeepSearching &keep_searching) {
    const py::gil_scoped_acquire gil;
    const auto reports =
        py::cast<std::optional<std::vector<ScheduleReport>>>(trees(order, py::cpp_function(keep_searching)));
    return reports ? ScheduleReports{*reports, false} : ScheduleReports{{}, true};
}

}  // namespace halidegym
