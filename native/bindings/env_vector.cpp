#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "bindings/array_argument.h"
#include "bindings/array_dict.h"
#include "bindings/native_work.h"
#include "bindings/observation_arrays.h"
#include "bindings/topics.h"
#include "env/blank_pages.h"
#include "env/vector_environment.h"
#include "problem/error.h"

namespace py = pybind11;

namespace halidegym {

namespace {

using Integers = ArrayArgument<int64_t>;
using Bools = ArrayArgument<bool>;

// Bools of NumPy as those of C++: by a view of other numbers, they may be any byte, and all but 0 are true.
class Flags {
public:
    explicit Flags(const Bools &given)
        : size_(static_cast<size_t>(given.size())), flags_(std::make_unique<bool[]>(size_)) {
        const auto *bytes = reinterpret_cast<const uint8_t *>(given.data());
        std::transform(bytes, bytes + size_, flags_.get(), [](uint8_t byte) { return byte != 0; });
    }
    std::span<const bool> all() const { return {flags_.get(), size_}; }

private:
    size_t size_;
    std::unique_ptr<bool[]> flags_;
};

// What lets go of memory when no array refers to it any longer.
template <typename Memory>
py::capsule owner_of(std::unique_ptr<Memory> memory) {
    py::capsule owner(memory.get(), [](void *held) { delete static_cast<Memory *>(held); });
    memory.release();
    return owner;
}

// A piece of memory that several arrays lie in.
class Arena {
public:
    Arena() = default;
    Arena(std::byte *memory, py::capsule owner) : memory_(memory), owner_(std::move(owner)) {}

    template <typename T>
    py::object allocate(int size, std::span<T> &view) {
        view = {reinterpret_cast<T *>(memory_ + std::exchange(used_, end_of<T>(size))), static_cast<size_t>(size)};
        return array_of<T, 1>({size}, view.data(), owner_);
    }

    // Counts as much, without memory.
    template <typename T>
    void reserve(int size) {
        used_ = end_of<T>(size);
    }

    size_t used() const { return used_; }

private:
    static constexpr size_t alignment = 64;

    template <typename T>
    size_t end_of(int size) const {
        return used_ + (static_cast<size_t>(size) * sizeof(T) + alignment - 1) / alignment * alignment;
    }

    std::byte *memory_ = nullptr;
    py::capsule owner_;
    size_t used_ = 0;
};

// Environments that make arrays for Python of what single ones of them show.
class ShownVectorEnvironment : public VectorEnvironment {
public:
    using VectorEnvironment::VectorEnvironment;

    // Mostly of episodes that are over, to tell how they ended: without decisions, and hardly ever looked at. So arrays
    // of decisions are blank pages, and all others are used again once nobody has them.
    py::list copy_rows(const Bools &chosen) {
        const std::vector<size_t> indices = indices_of(chosen);
        std::vector<ArrayDict> &frame = next_frame();
        frame.resize(std::max(frame.size(), indices.size()));
        auto pages = std::make_unique<BlankPages>(indices.size() * blank_size());
        std::byte *memory = pages->data();
        Arena blank(memory, owner_of(std::move(pages)));
        std::vector<Observation> rows(indices.size());
        py::list result(indices.size());
        for (size_t i = 0; i < rows.size(); i++) {
            result[i] = new_row(frame[i], blank, rows[i]);
        }
        const UnlockedWork work;
        observe(indices, rows);
        return result;
    }

    py::list states(const Bools &chosen) const {
        py::list result;
        for (const size_t i : indices_of(chosen)) {
            result.append(state(static_cast<int64_t>(i)));
        }
        return result;
    }

private:
    std::vector<size_t> indices_of(const Bools &chosen) const {
        check_length("chosen", static_cast<size_t>(chosen.size()));
        const Flags flags(chosen);
        std::vector<size_t> indices;
        for (size_t i = 0; i < batch().size(); i++) {
            if (flags.all()[i]) {
                indices.push_back(i);
            }
        }
        return indices;
    }

    // Of what is blank in one row.
    size_t blank_size() const {
        Arena arena;
        Observation none;
        for_each_array(none, shape(), [&]<typename T>(const char *name, std::span<T> &, int size) {
            if (is_blank_at_end(name)) {
                arena.reserve<T>(size);
            }
        });
        return arena.used();
    }

    // A dict of arrays, and views of them to write to.
    py::dict new_row(ArrayDict &used_before, Arena &blank, Observation &views) const {
        size_t i = 0;
        for_each_array(views, shape(), [&]<typename T>(const char *name, std::span<T> &part, int size) {
            const py::str &key = observation_names()[i];
            if (is_blank_at_end(name)) {
                used_before.leave_out(i, key);
            } else {
                part = used_before.memory<T>(i, key, size);
            }
            i++;
        });
        py::dict row = used_before.copy();
        i = 0;
        for_each_array(views, shape(), [&]<typename T>(const char *name, std::span<T> &part, int size) {
            if (is_blank_at_end(name)) {
                row[observation_names()[i]] = blank.allocate(size, part);
            }
            i++;
        });
        return row;
    }

    // Whoever takes a step mostly has what the last one told until it is done, but not what came before that.
    std::vector<ArrayDict> &next_frame() {
        std::swap(frames_[0], frames_[1]);
        return frames_[0];
    }

    std::array<std::vector<ArrayDict>, 2> frames_;
};

// A part of the batch as an array that only the environments write, and that keeps them alive.
template <typename T>
py::array read_only_view(const py::object &owner, std::span<T> part, std::vector<py::ssize_t> shape) {
    py::array array(py::dtype::of<std::remove_const_t<T>>(), std::move(shape), part.data(), owner);
    py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    return array;
}

// A member of the batch that holds a value for each environment.
template <typename Member>
auto column(Member member) {
    return [member](const py::object &self) {
        const Batch &batch = self.cast<const ShownVectorEnvironment &>().batch();
        return read_only_view(self, std::span(&(batch.*member)[0], batch.size()),
                              {static_cast<py::ssize_t>(batch.size())});
    };
}

py::dict observation(const py::object &self) {
    auto &environment = self.cast<ShownVectorEnvironment &>();
    const auto size = static_cast<py::ssize_t>(environment.batch().size());
    Observation all = environment.kept_observation();
    py::dict arrays;
    for_each_array(all, environment.shape(), [&](const char *name, auto &part, int length) {
        arrays[name] = read_only_view(self, part, {size, static_cast<py::ssize_t>(length)});
    });
    return arrays;
}

// An array in memory of its own, which is handed out again when it is let go of.
template <typename T>
py::object new_array(const SpareMemory &spare, size_t rows, int columns, std::span<T> &view) {
    const size_t count = rows * static_cast<size_t>(columns);
    auto block = std::make_unique<SpareMemory::Block>(spare.take(count * sizeof(T)));
    view = {reinterpret_cast<T *>(block->get()), count};
    return array_of<T, 2>({static_cast<Py_intptr_t>(rows), columns}, view.data(), owner_of(std::move(block)));
}

py::dict copy_observation(const ShownVectorEnvironment &environment) {
    py::dict arrays;
    Observation views;
    auto name = observation_names().begin();
    for_each_array(views, environment.shape(), [&](const char *, auto &part, int length) {
        arrays[*name++] = new_array(environment.spare_memory(), environment.batch().size(), length, part);
    });
    {
        const UnlockedWork work;
        environment.observe(views);
    }
    return arrays;
}

// What there is to tell of every position; 0 of those that are not chosen.
py::dict information(const ShownVectorEnvironment &environment, const std::optional<Bools> &chosen) {
    const auto told = chosen ? std::optional<Flags>(*chosen) : std::nullopt;
    if (told) {
        environment.check_length("chosen", told->all().size());
    }
    const Batch &batch = environment.batch();
    const size_t size = batch.size();
    const auto room = static_cast<size_t>(environment.shape().decisions);
    const auto shape = static_cast<py::ssize_t>(size);
    py::array_t<int8_t> mask({shape, static_cast<py::ssize_t>(room)});
    py::array_t<int64_t> num_legal(shape), evaluations(shape);
    py::array_t<bool> truncated(shape);
    for (size_t i = 0; i < size; i++) {
        const bool is_told = !told || told->all()[i];
        const int64_t count = is_told ? batch.num_legal_decisions[i] : 0;
        const size_t shown = std::min(static_cast<size_t>(count), room);
        int8_t *row = mask.mutable_data() + i * room;
        std::fill(std::fill_n(row, shown, int8_t{1}), row + room, int8_t{0});
        num_legal.mutable_data()[i] = count;
        truncated.mutable_data()[i] = static_cast<size_t>(count) > room;
        evaluations.mutable_data()[i] = is_told ? batch.num_evaluations[i] : 0;
    }
    py::dict result;
    result["action_mask"] = std::move(mask);
    result["num_legal_decisions"] = std::move(num_legal);
    result["decisions_truncated"] = std::move(truncated);
    result["evaluations"] = std::move(evaluations);
    return result;
}

void start(ShownVectorEnvironment &environment, std::vector<std::optional<State>> states,
           const std::vector<double> &reference_costs) {
    if (!reference_costs.empty() && reference_costs.size() != states.size()) {
        throw InvalidParameter("reference_costs has " + std::to_string(reference_costs.size()) +
                               " elements; give one for each of " + std::to_string(states.size()) +
                               " states, or none for 1");
    }
    const UnlockedWork work;
    std::vector<std::optional<Start>> starts(states.size());
    for (size_t i = 0; i < states.size(); i++) {
        if (states[i]) {
            starts[i].emplace(*std::move(states[i]), reference_costs.empty() ? 1 : reference_costs[i]);
        }
    }
    environment.start(std::move(starts));
}

void restart(ShownVectorEnvironment &environment, const Bools &chosen) {
    const Flags flags(chosen);
    const UnlockedWork work;
    environment.restart(flags.all());
}

void step(ShownVectorEnvironment &environment, const Integers &actions, const Bools &chosen) {
    const auto taken = elements(actions);
    const Flags flags(chosen);
    const UnlockedWork work;
    environment.step(taken, flags.all());
}

}  // namespace

void bind_env_vector(py::module_ &m) {
    py::class_<ShownVectorEnvironment>(m, "VectorEnvironment",
                                       "Environments that take their steps together, in threads.")
        .def(py::init<ObservationShape, bool, int, int>(), py::arg("shape"), py::kw_only(),
             py::arg("skip_forced") = true, py::arg("num_envs"), py::arg("threads") = 1)
        .def("start", &start, py::arg("states"), py::arg("reference_costs") = std::vector<double>(),
             "Begin in these states; environments without one go on.")
        .def("restart", &restart, py::arg("chosen"), "Begin again where the chosen environments began last.")
        .def("step", &step, py::arg("actions"), py::arg("chosen"), "Take an action in each chosen environment.")
        .def("copy_observation", &copy_observation, "What `observation` shows, in new arrays.")
        .def("copy_rows", &ShownVectorEnvironment::copy_rows, py::arg("chosen"),
             "What each chosen environment shows, in new arrays.")
        .def("information", &information, py::arg("chosen") = py::none(),
             "What else there is to tell of every position, in new arrays.")
        .def("state", &VectorEnvironment::state, py::arg("index"))
        .def("states", &ShownVectorEnvironment::states, py::arg("chosen"), "The state of each chosen environment.")
        .def_property_readonly("shape", [](const ShownVectorEnvironment &environment) { return environment.shape(); })
        .def_property_readonly("observation", &observation)
        .def_property_readonly("num_legal_decisions", column(&Batch::num_legal_decisions))
        .def_property_readonly("evaluations", column(&Batch::num_evaluations))
        .def_property_readonly("cost", column(&Batch::cost))
        .def_property_readonly("terminated", column(&Batch::terminated))
        .def_property_readonly("illegal_action", column(&Batch::illegal_action));
}

}  // namespace halidegym
