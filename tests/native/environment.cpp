// An environment that has not begun refuses what it has no answer to.

#include "env/environment.h"

#include "example_problem.h"
#include "problem/error.h"

using namespace halidegym;

int main() {
    const Environment environment({.stages = 1, .edges = 1, .loops = 1, .decisions = 1}, true);
    expect_error<InvalidParameter>("observation", [&] { environment.observe(Observation{}); });
    expect_error<InvalidParameter>("state", [&] { environment.state(); });
    expect("nothing is legal", environment.num_legal_decisions() == 0);
    return failures == 0 ? 0 : 1;
}
