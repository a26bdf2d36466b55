#pragma once

#include <pybind11/pybind11.h>

#include "search/spaces/schedule_space.h"
#include "search/tree/tree_share.h"

// Trees that live in other processes: what they are told and tell, as Python sees it.
namespace halidegym {

using ScheduleOrder = TreeOrder<Decision>;
using ScheduleReport = TreeReport<Decision>;
using ScheduleReports = TreeReports<Decision>;

void bind_tree_share(pybind11::module_ &m);

// Hands an order to a Python function, which returns the reports, or None if the trees were stopped.
ScheduleReports search_in_python(const pybind11::object &trees, const ScheduleOrder &order,
                                 const KeepSearching &keep_searching);

}  // namespace halidegym
