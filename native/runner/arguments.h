#pragma once

#include <HalideRuntime.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace halidegym {

// A compiled pipeline: its entry point, which takes one pointer per argument, and the description of those arguments.
struct Kernel {
    int (*run)(void **arguments) = nullptr;
    const halide_filter_metadata_t *metadata = nullptr;
};

// Values for all arguments of a kernel. Outputs have exactly the estimated extents. Inputs have theirs, or more where
// the schedule reads further (round-up tails), which a bounds query tells. The value of an input at a coordinate
// depends on nothing but the seed, so that all schedules of a pipeline see the same data; or it comes from the raw file
// given for the input's name, which holds the estimated region, dimension 0 innermost. Scalars have their estimates,
// else their defaults. Throws std::runtime_error if an estimate is missing or a file does not fit.
class Arguments {
public:
    Arguments(const Kernel &kernel, uint64_t seed, const std::map<std::string, std::string> &files);
    Arguments(const Arguments &) = delete;
    Arguments &operator=(const Arguments &) = delete;

    void **pointers() { return pointers_.data(); }

    std::vector<const halide_buffer_t *> outputs() const;

    // By name, the inputs with the regions that they have.
    std::vector<std::pair<std::string, const halide_buffer_t *>> inputs() const;

private:
    struct FreeDeleter {
        void operator()(void *memory) const;
    };
    struct Buffer {
        int argument = 0;
        std::string name;
        bool is_output = false;
        std::vector<halide_dimension_t> dimensions;
        halide_buffer_t header{};
        std::unique_ptr<void, FreeDeleter> storage;
    };

    static std::vector<halide_dimension_t> estimates(const halide_filter_argument_t &argument, bool required);
    void size_buffers(const Kernel &kernel, bool outputs);
    void allocate(Buffer &buffer);
    void fill(Buffer &buffer, uint64_t seed) const;
    void read(Buffer &buffer, const std::vector<halide_dimension_t> &region, const std::string &path) const;

    std::vector<std::unique_ptr<Buffer>> buffers_;
    std::vector<halide_scalar_value_t> scalars_;  // by argument
    std::vector<void *> pointers_;
};

}  // namespace halidegym
