#pragma once

#include <set>
#include <string>
#include <string_view>

namespace halidegym {

// Words that nothing can be called by in the source of a schedule: the language's, and what the source itself names.
const std::set<std::string, std::less<>> &reserved_in_cpp();
const std::set<std::string, std::less<>> &reserved_in_python();

// In either of them.
bool is_reserved(std::string_view word);

}  // namespace halidegym
