#include "nest/reserved_words.h"

#include <iterator>
#include <sstream>

namespace halidegym {

namespace {

Words words_of(const std::string &text) {
    std::istringstream words(text);
    return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

}  // namespace

const Words &reserved_in_cpp() {
    static const Words words = words_of(
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
        "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
        "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline "
        "int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
        "register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch "
        "template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile "
        "wchar_t while xor xor_eq "
        "Func Halide MemoryType RVar TailStrategy Var main std");
    return words;
}

const Words &reserved_in_python() {
    static const Words words = words_of(
        "False None True and as assert async await break class continue def del elif else except finally for from "
        "global if import in is lambda nonlocal not or pass raise return try while with yield "
        "hl");
    return words;
}

bool is_reserved(std::string_view word) {
    return reserved_in_cpp().contains(word) || reserved_in_python().contains(word);
}

}  // namespace halidegym
