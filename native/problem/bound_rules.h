#pragma once

namespace halidegym {

struct Problem;

// Writes down for each Func how its bound record follows from others. Bounds are laid out before.
void write_bound_rules(Problem &problem);

}  // namespace halidegym
