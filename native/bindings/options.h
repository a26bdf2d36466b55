#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "problem/error.h"

namespace halidegym {

template <typename Value>
struct Plain {
    using Type = Value;
    static constexpr bool may_be_none = false;
};
template <typename Value>
struct Plain<std::optional<Value>> {
    using Type = Value;
    static constexpr bool may_be_none = true;
};

// What a parameter of a type may be.
template <typename Value>
std::string describe() {
    if constexpr (Plain<Value>::may_be_none) {
        return describe<typename Plain<Value>::Type>() + ", or None";
    } else if constexpr (std::is_same_v<Value, bool>) {
        return "True or False";
    } else if constexpr (std::is_integral_v<Value>) {
        return "an integer from " + std::to_string(std::numeric_limits<Value>::min()) + " to " +
               std::to_string(std::numeric_limits<Value>::max());
    } else if constexpr (std::is_floating_point_v<Value>) {
        return "a number";
    } else if constexpr (std::is_same_v<Value, std::string>) {
        return "a text";
    } else {
        return "a " + std::string(pybind11::str(pybind11::type::of<Value>().attr("__name__")));
    }
}

// A parameter as a value of its type; throws InvalidParameter, which names it, if it is none.
template <typename Value>
Value parameter(const std::string &name, const pybind11::handle &given) {
    using Type = typename Plain<Value>::Type;
    bool fits = true;
    if constexpr (std::is_arithmetic_v<Type>) {
        const bool is_truth = pybind11::detail::make_caster<bool>().load(given, /*convert=*/false);
        fits = given.is_none() ? Plain<Value>::may_be_none : is_truth == std::is_same_v<Type, bool>;
    }
    if (fits) {
        try {
            return pybind11::cast<Value>(given);
        } catch (const pybind11::cast_error &) {
        }
    }
    throw InvalidParameter(name + "=" + std::string(pybind11::repr(given)) + " is out of range; give " +
                           describe<Value>());
}

// A struct of parameters as an immutable Python class. Its constructor takes the members by name; those that are left
// out keep the defaults of the struct, which stand nowhere else: the agents in Python read theirs off such an object.
// The constructor ends with `check`, found by the type.
template <typename Options>
class OptionsClass {
public:
    OptionsClass(pybind11::module_ &m, const char *name, const char *doc) : class_(m, name, doc) {
        class_.def(pybind11::init([name = std::string(name), setters = setters_](const pybind11::kwargs &given) {
            Options options;
            for (const auto &[key, value] : given) {
                const auto setter = setters->find(pybind11::cast<std::string>(key));
                if (setter == setters->end()) {
                    throw pybind11::type_error(name + " has no parameter " + pybind11::cast<std::string>(key));
                }
                setter->second(options, value);
            }
            check(options);
            return options;
        }));
    }

    template <typename Value>
    OptionsClass &add(const char *name, Value Options::*member) {
        return accessed(name, [=](auto &options) -> auto & { return options.*member; });
    }

    // A member of a member.
    template <typename Outer, typename Value>
    OptionsClass &add_nested(const char *name, Outer Options::*outer, Value Outer::*member) {
        return accessed(name, [=](auto &options) -> auto & { return options.*outer.*member; });
    }

    // None stands for a value that the struct has for it.
    template <typename Value>
    OptionsClass &add_optional(const char *name, Value Options::*member, Value none) {
        return add_converted(
            name,
            [=](const Options &options) {
                return options.*member == none ? std::nullopt : std::optional(options.*member);
            },
            [=, name = std::string(name)](Options &options, const pybind11::handle &given) {
                options.*member = parameter<std::optional<Value>>(name, given).value_or(none);
            });
    }

    // Values by their names.
    template <typename Value>
    OptionsClass &add_choice(const char *name, Value Options::*member,
                             const std::vector<std::pair<std::string, Value>> &choices) {
        return add_converted(
            name,
            [=](const Options &options) {
                return std::find_if(choices.begin(), choices.end(),
                                    [&](const auto &choice) { return choice.second == options.*member; })
                    ->first;
            },
            [=, name = std::string(name)](Options &options, const pybind11::handle &given) {
                std::string known;
                for (const auto &[choice, value] : choices) {
                    if (given.equal(pybind11::str(choice))) {
                        options.*member = value;
                        return;
                    }
                    known += (known.empty() ? "" : ", ") + choice;
                }
                throw InvalidParameter(name + "=" + std::string(pybind11::repr(given)) + " is unknown; give one of " +
                                       known);
            });
    }

    // `get` and `set` tell how Python sees a parameter.
    template <typename Get, typename Set>
    OptionsClass &add_converted(const char *name, const Get &get, const Set &set) {
        class_.def_property_readonly(name, get);
        setters_->emplace(name, set);
        return *this;
    }

    // Something that follows from the parameters.
    template <typename Get>
    OptionsClass &add_derived(const char *name, const Get &get) {
        class_.def_property_readonly(name, get);
        return *this;
    }

private:
    using Setter = std::function<void(Options &, const pybind11::handle &)>;

    template <typename Access>
    OptionsClass &accessed(const char *name, const Access &access) {
        using Value = std::remove_cvref_t<decltype(access(std::declval<Options &>()))>;
        return add_converted(
            name, [=](const Options &options) { return access(options); },
            [=, name = std::string(name)](Options &options, const pybind11::handle &given) {
                access(options) = parameter<Value>(name, given);
            });
    }

    std::shared_ptr<std::map<std::string, Setter>> setters_ = std::make_shared<std::map<std::string, Setter>>();
    pybind11::class_<Options> class_;
};

}  // namespace halidegym
