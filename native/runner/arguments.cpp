#include "runner/arguments.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>

#include "runner/points.h"
#include "runner/shares.h"

namespace halidegym {
namespace {

constexpr size_t alignment = 128;  // bytes; more than any vector register
constexpr int max_bounds_queries = 4;

using Dimensions = std::vector<halide_dimension_t>;

// Strides that keep the order of dimensions which the given strides ask for (an interleaved image has its channels
// innermost), dense unless these ask for more (rows or pixels that are padded). Returns how many elements they span.
int64_t pack(Dimensions &dimensions) {
    std::vector<halide_dimension_t *> order;
    for (halide_dimension_t &dimension : dimensions) {
        order.push_back(&dimension);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto *a, const auto *b) { return a->stride < b->stride; });
    int64_t span = 1;
    for (halide_dimension_t *dimension : order) {
        const int64_t stride = std::max<int64_t>(span, dimension->stride);
        if (stride > std::numeric_limits<int32_t>::max()) {
            throw std::runtime_error(
                "a buffer of the pipeline needs strides of more than 32 bits; make its estimates smaller");
        }
        dimension->stride = static_cast<int32_t>(stride);
        span = stride * dimension->extent;
    }
    return span;
}

// Grows each dimension to cover `other`; false if it did already. A region of extent zero covers nothing.
bool cover(Dimensions &dimensions, const Dimensions &other) {
    bool grown = false;
    for (size_t i = 0; i < dimensions.size(); i++) {
        halide_dimension_t &mine = dimensions[i];
        const halide_dimension_t &theirs = other[i];
        mine.stride = theirs.stride;
        if (theirs.extent <= 0) {
            continue;
        }
        const int64_t their_end = int64_t{theirs.min} + theirs.extent;
        const int32_t min = mine.extent <= 0 ? theirs.min : std::min(mine.min, theirs.min);
        const int64_t end = mine.extent <= 0 ? their_end : std::max(int64_t{mine.min} + mine.extent, their_end);
        if (end - min > std::numeric_limits<int32_t>::max()) {
            throw std::runtime_error("the schedule asks for more of an input than 32 bits can count");
        }
        grown = grown || min != mine.min || end - min != mine.extent;
        mine.min = min;
        mine.extent = static_cast<int32_t>(end - min);
    }
    return grown;
}

// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
uint64_t scramble(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

// Calls visit with the function that makes a value of the type of 64 random bits: floats in [0, 1), integers of the
// type's range but below 1024, which keeps sums of products of wide integers from overflowing.
template <typename Visit>
void with_values_of(halide_type_t type, Visit visit) {
    constexpr auto unit = [](uint64_t random) { return static_cast<double>(random >> 40) * 0x1p-24; };
    if (type.code == halide_type_float && type.bits == 32) {
        visit([=](uint64_t random) { return static_cast<float>(unit(random)); });
    } else if (type.code == halide_type_float && type.bits == 64) {
        visit(unit);
    } else if (type.code == halide_type_float || type.code == halide_type_bfloat) {
        // One of the 128 values 1.m with an exponent of -1, which lie in [0.5, 1), in either 16-bit format.
        const int mantissa_bits = type.code == halide_type_float ? 10 : 7;
        const uint64_t exponent = type.code == halide_type_float ? 14 : 126;
        visit([=](uint64_t random) {
            return static_cast<uint16_t>((exponent << mantissa_bits) | (random >> 57 << (mantissa_bits - 7)));
        });
    } else if (type.bits == 1) {
        visit([](uint64_t random) { return static_cast<uint8_t>(random >> 63); });
    } else if (type.bits == 8) {
        visit([](uint64_t random) { return static_cast<uint8_t>(random >> 56); });
    } else if (type.bits == 16) {
        visit([](uint64_t random) { return static_cast<uint16_t>(random >> 54); });
    } else if (type.bits == 32) {
        visit([](uint64_t random) { return static_cast<uint32_t>(random >> 54); });
    } else {
        visit([](uint64_t random) { return random >> 54; });
    }
}

}  // namespace

void Arguments::FreeDeleter::operator()(void *memory) const {
    std::free(memory);
}

Dimensions Arguments::estimates(const halide_filter_argument_t &argument, bool required) {
    Dimensions dimensions(static_cast<size_t>(argument.dimensions));
    for (int i = 0; i < argument.dimensions; i++) {
        const int64_t *min = argument.buffer_estimates ? argument.buffer_estimates[2 * i] : nullptr;
        const int64_t *extent = argument.buffer_estimates ? argument.buffer_estimates[2 * i + 1] : nullptr;
        if (required && (!min || !extent)) {
            throw std::runtime_error("dimension " + std::to_string(i) + " of '" + argument.name +
                                     "' has no estimate; call set_estimates() on it");
        }
        dimensions[i] = {min ? static_cast<int32_t>(*min) : 0, extent ? static_cast<int32_t>(*extent) : 0, 0};
    }
    return dimensions;
}

Arguments::Arguments(const Kernel &kernel, uint64_t seed, const std::map<std::string, std::string> &files)
    : scalars_(static_cast<size_t>(kernel.metadata->num_arguments)),
      pointers_(static_cast<size_t>(kernel.metadata->num_arguments)) {
    for (int a = 0; a < kernel.metadata->num_arguments; a++) {
        const halide_filter_argument_t &argument = kernel.metadata->arguments[a];
        if (argument.kind == halide_argument_kind_input_scalar) {
            const halide_scalar_value_t *value =
                argument.scalar_estimate ? argument.scalar_estimate : argument.scalar_def;
            if (!value) {
                throw std::runtime_error("parameter '" + std::string(argument.name) +
                                         "' has neither an estimate nor a value; call set_estimate() on it");
            }
            scalars_[a] = *value;
            pointers_[a] = &scalars_[a];
            continue;
        }
        auto buffer = std::make_unique<Buffer>();
        buffer->argument = a;
        buffer->name = argument.name;
        buffer->is_output = argument.kind == halide_argument_kind_output_buffer;
        buffer->dimensions = estimates(argument, buffer->is_output);
        buffer->header.type = argument.type;
        buffer->header.dimensions = argument.dimensions;
        buffer->header.dim = buffer->dimensions.data();
        pointers_[a] = &buffer->header;
        buffers_.push_back(std::move(buffer));
    }
    // Outputs first: how far the schedule reads depends on where they are.
    size_buffers(kernel, true);
    size_buffers(kernel, false);
    for (const auto &buffer : buffers_) {
        if (buffer->is_output) {
            continue;
        }
        const halide_filter_argument_t &argument = kernel.metadata->arguments[buffer->argument];
        if (const auto file = files.find(argument.name); file != files.end()) {
            read(*buffer, estimates(argument, true), file->second);
        } else {
            fill(*buffer, scramble(seed ^ scramble(static_cast<uint64_t>(buffer->argument))));
        }
    }
}

// A call with a buffer that has no memory is a bounds query: it replaces the dimensions of that buffer by those needed.
// What is needed of an input can depend on its size (clamps), hence the repetition.
void Arguments::size_buffers(const Kernel &kernel, bool outputs) {
    for (int query = 0; query < max_bounds_queries; query++) {
        std::vector<Dimensions> before;
        for (const auto &buffer : buffers_) {
            before.push_back(buffer->dimensions);
        }
        if (kernel.run(pointers_.data()) != 0) {
            throw std::runtime_error("the bounds query failed");
        }
        bool grown = false;
        for (size_t b = 0; b < buffers_.size(); b++) {
            const Dimensions needed = buffers_[b]->dimensions;
            Dimensions sized = before[b];
            if (buffers_[b]->is_output) {
                for (size_t i = 0; i < sized.size(); i++) {
                    sized[i].stride = needed[i].stride;
                }
            } else {
                grown = cover(sized, needed) || grown;
            }
            std::copy(sized.begin(), sized.end(), buffers_[b]->dimensions.begin());
        }
        if (outputs || !grown) {
            break;
        }
    }
    for (const auto &buffer : buffers_) {
        if (buffer->is_output == outputs) {
            allocate(*buffer);
        }
    }
}

void Arguments::allocate(Buffer &buffer) {
    const int64_t span = pack(buffer.dimensions);
    const size_t bytes = static_cast<size_t>(span) * buffer.header.type.bytes();
    // An allocation of its own even if empty: memory that is null would mean a bounds query.
    const size_t padded = (bytes / alignment + 1) * alignment;
    buffer.storage.reset(std::aligned_alloc(alignment, padded));
    if (!buffer.storage) {
        throw std::bad_alloc();
    }
    buffer.header.host = static_cast<uint8_t *>(buffer.storage.get());
    // Values are going to be written to all elements of an input, and to nothing else.
    const size_t written = !buffer.is_output && span == num_elements(buffer.dimensions) ? bytes : 0;
    const size_t share = (padded - written) / static_cast<size_t>(num_threads());
    in_threads(num_threads(), [&](int i) {  // for most of the time, the system fetches pages
        const size_t begin = written + share * static_cast<size_t>(i);
        std::memset(buffer.header.host + begin, 0, i + 1 < num_threads() ? share : padded - begin);
    });
}

void Arguments::fill(Buffer &buffer, uint64_t seed) const {
    const auto coordinate = [&](size_t d, int32_t index) {
        return static_cast<uint32_t>(buffer.dimensions[d].min + index);
    };
    std::vector<Rows> parts = Rows::parts(buffer.dimensions, num_threads());
    const auto fill_by = [&](auto value_of) {
        const auto fill_row = [&](const std::vector<int32_t> &at, int64_t offset, int32_t length, int32_t stride) {
            uint64_t row = seed;
            for (size_t d = 1; d < at.size(); d++) {
                row = scramble(row ^ coordinate(d, at[d]));
            }
            for (int32_t i = 0; i < length; i++) {
                const auto value = value_of(at.empty() ? row : scramble(row ^ coordinate(0, i)));
                const int64_t place = (offset + int64_t{i} * stride) * int64_t{sizeof value};
                std::memcpy(buffer.header.host + place, &value, sizeof value);
            }
        };
        in_threads(static_cast<int>(parts.size()), [&](int i) { parts[static_cast<size_t>(i)].visit(fill_row); });
    };
    with_values_of(buffer.header.type, fill_by);
}

// The file covers the estimated region; beyond it, where only rounded-up tiles read, its edges are repeated.
void Arguments::read(Buffer &buffer, const Dimensions &region, const std::string &path) const {
    const int64_t bytes = buffer.header.type.bytes();
    std::vector<char> data(static_cast<size_t>(num_elements(region) * bytes));
    std::ifstream file(path, std::ios::binary);
    if (!file.read(data.data(), static_cast<std::streamsize>(data.size())) || file.peek() != EOF) {
        throw std::runtime_error("the array given for an input is missing or has another size: " + path);
    }
    const auto index = [&](size_t d, int32_t at) {
        return int64_t{std::clamp(buffer.dimensions[d].min + at - region[d].min, 0, region[d].extent - 1)};
    };
    Rows(buffer.dimensions).visit([&](const std::vector<int32_t> &at, int64_t offset, int32_t count, int32_t stride) {
        int64_t row = 0;
        for (size_t d = at.size(); d-- > 1;) {
            row = (row + index(d, at[d])) * region[d - 1].extent;
        }
        for (int32_t i = 0; i < count; i++) {
            std::memcpy(buffer.header.host + (offset + int64_t{i} * stride) * bytes,
                        data.data() + (row + (at.empty() ? 0 : index(0, i))) * bytes, static_cast<size_t>(bytes));
        }
    });
}

std::vector<const halide_buffer_t *> Arguments::outputs() const {
    std::vector<const halide_buffer_t *> result;
    for (const auto &buffer : buffers_) {
        if (buffer->is_output) {
            result.push_back(&buffer->header);
        }
    }
    return result;
}

std::vector<std::pair<std::string, const halide_buffer_t *>> Arguments::inputs() const {
    std::vector<std::pair<std::string, const halide_buffer_t *>> result;
    for (const auto &buffer : buffers_) {
        if (!buffer->is_output) {
            result.emplace_back(buffer->name, &buffer->header);
        }
    }
    return result;
}

}  // namespace halidegym
