#pragma once

#include <pybind11/pybind11.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "problem/error.h"
#include "search/spaces/optional_hooks.h"

namespace halidegym {

// A Python object as a search space; the methods it needs are documented in agents/spaces.py. Slower than a space in
// C++, with the same results. Its methods take the interpreter's lock themselves, so that planners run without it and
// in any thread; what Python raises ends the search and arrives at the caller as it is.
class PythonSpace {
public:
    // A Python value that may be copied and dropped without the interpreter's lock.
    class Value {
    public:
        Value() = default;
        // Call with the lock held.
        explicit Value(pybind11::object object)
            : object_(new pybind11::object(std::move(object)), [](pybind11::object *held) {
                  const pybind11::gil_scoped_acquire gil;
                  delete held;
              }) {}
        const pybind11::object &get() const { return *object_; }
        friend bool operator==(const Value &a, const Value &b) {
            const pybind11::gil_scoped_acquire gil;
            return a.get().equal(b.get());
        }

    private:
        std::shared_ptr<pybind11::object> object_;
    };

    using Decision = Value;

    // Knows how many decisions led to it, whatever the space says.
    class State : public Value {
    public:
        State(pybind11::object object, int num_decisions) : Value(std::move(object)), num_decisions_(num_decisions) {}
        int num_decisions() const { return num_decisions_; }

    private:
        int num_decisions_;
    };

    class Children {
    public:
        Children(const PythonSpace &space, State parent, std::vector<Decision> decisions)
            : space_(&space), parent_(std::move(parent)), decisions_(std::move(decisions)) {}
        std::span<const Decision> decisions() const { return decisions_; }
        State child(const Decision &decision) const { return space_->apply(parent_, decision); }

    private:
        const PythonSpace *space_;
        State parent_;
        std::vector<Decision> decisions_;
    };

    // Call with the lock held.
    explicit PythonSpace(pybind11::object object)
        : has_inherits_cost_(pybind11::hasattr(object, "inherits_cost")), has_hash_(pybind11::hasattr(object, "hash")),
          object_(object) {
        for (const char *method : {"root", "is_complete", "depth", "max_depth", "decisions", "apply", "cost"}) {
            if (!pybind11::hasattr(object, method)) {
                throw InvalidParameter(
                    "a " + std::string(pybind11::str(pybind11::type::of(object).attr("__name__"))) +
                    " is no search space: it has no method " + method +
                    "(); give a Space, a SyntheticTree, or an object with the methods of SearchSpace");
            }
        }
        max_depth_ = get<int>("max_depth");
        if (max_depth_ < 0) {
            throw InvalidParameter("the search space's max_depth() returned " + std::to_string(max_depth_) +
                                   "; return the largest depth of a state, at least 0");
        }
    }

    State root() const {
        const pybind11::gil_scoped_acquire gil;
        return {call("root"), 0};
    }
    bool is_complete(const State &state) const { return get<bool>("is_complete", state); }
    int depth(const State &state) const {
        const int depth = get<int>("depth", state);
        if (depth < 0 || depth > max_depth_) {
            throw InvalidParameter(
                "the search space's depth() returned " + std::to_string(depth) + ", but its max_depth() is " +
                std::to_string(max_depth_) +
                "; return the number of decisions that led to a state, and the largest one there is");
        }
        return depth;
    }
    int max_depth() const { return max_depth_; }

    Children children(const State &state) const {
        const pybind11::gil_scoped_acquire gil;
        const pybind11::object listed = call("decisions", state.get());
        if (!pybind11::hasattr(listed, "__iter__")) {
            throw InvalidParameter("the search space's decisions() returned " + std::string(pybind11::repr(listed)) +
                                   ", which cannot be iterated over; return a list, empty in a dead end");
        }
        std::vector<Decision> decisions;
        for (const auto decision : listed) {
            decisions.emplace_back(pybind11::reinterpret_borrow<pybind11::object>(decision));
        }
        return {*this, state, std::move(decisions)};
    }

    Children unlisted_children(const State &state) const { return {*this, state, {}}; }

    State apply(const State &state, const Decision &decision) const {
        const int num_decisions = state.num_decisions() + 1;
        if (num_decisions > max_depth_) {  // no walk might ever end
            throw InvalidParameter("after " + std::to_string(num_decisions) +
                                   " decisions a state of the search space follows one that is not complete, but its "
                                   "max_depth() is " +
                                   std::to_string(max_depth_) +
                                   "; return the largest number of decisions to a complete state");
        }
        const pybind11::gil_scoped_acquire gil;
        return {call("apply", state.get(), decision.get()), num_decisions};
    }

    bool inherits_cost(const Decision &decision) const {
        return has_inherits_cost_ && get<bool>("inherits_cost", decision);
    }

    std::optional<double> cost(const State &state) const {
        const auto cost = get<std::optional<double>>("cost", state);
        if (cost && std::isnan(*cost)) {
            throw InvalidParameter("the search space's cost() returned nan; return a number, or None for a state that "
                                   "is not acceptable");
        }
        return cost;
    }

    uint64_t hash(const State &state, int depth) const {
        const pybind11::gil_scoped_acquire gil;
        if (!has_hash_) {
            return hash_of(state.get());
        }
        const pybind11::object hash = call("hash", state.get(), depth);
        const uint64_t number = PyLong_AsUnsignedLongLongMask(hash.ptr());
        if (PyErr_Occurred()) {
            PyErr_Clear();
            throw undocumented("hash", hash);
        }
        return number;
    }

    bool equal(const State &a, const State &b) const {
        const pybind11::gil_scoped_acquire gil;
        return a.get().equal(b.get());
    }

private:
    static uint64_t hash_of(const pybind11::object &state) {
        try {
            return static_cast<uint64_t>(pybind11::hash(state));
        } catch (const pybind11::error_already_set &error) {
            if (!error.matches(PyExc_TypeError)) {
                throw;
            }
            throw InvalidParameter("the search space's state " + std::string(pybind11::repr(state)) +
                                   " cannot be hashed (" + std::string(pybind11::str(error.value())) +
                                   "); give immutable states, such as tuples, or add a method hash() to the space");
        }
    }

    static InvalidParameter undocumented(const char *method, const pybind11::object &result) {
        return InvalidParameter("the search space's " + std::string(method) + "() returned " +
                                std::string(pybind11::repr(result)) + ", which is not of the documented type");
    }

    template <typename... Arguments>
    pybind11::object call(const char *method, const Arguments &...arguments) const {
        return object_.get().attr(method)(arguments...);
    }

    template <typename Result, typename... Values>
    Result get(const char *method, const Values &...values) const {
        const pybind11::gil_scoped_acquire gil;
        const pybind11::object result = call(method, values.get()...);
        try {
            return pybind11::cast<Result>(result);
        } catch (const pybind11::cast_error &) {
            throw undocumented(method, result);
        }
    }

    bool has_inherits_cost_;
    bool has_hash_;
    Value object_;
    int max_depth_;
};

static_assert(BuildsUnlistedChildren<PythonSpace>);

}  // namespace halidegym
