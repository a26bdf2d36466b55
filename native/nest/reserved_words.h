#pragma once

#include <set>
#include <string>
#include <string_view>

namespace halidegym {

using Words = std::set<std::string, std::less<>>;

// Words that nothing can be called by in the source of a schedule: the language's, and what the source itself names.
const Words &reserved_in_cpp();
const Words &reserved_in_python();

// In either of them.
bool is_reserved(std::string_view word);

}  // namespace halidegym
