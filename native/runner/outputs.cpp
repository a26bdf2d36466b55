#include "runner/outputs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>

#include "runner/points.h"

namespace halidegym {
namespace {

std::string numpy_type(halide_type_t type) {
    const std::string bytes = std::to_string(type.bytes());
    switch (type.code) {
    case halide_type_int:
        return "i" + bytes;
    case halide_type_float:
        return "f" + bytes;
    default:
        return (type.bits == 1 ? "b" : "u") + bytes;
    }
}

std::string path_of(const std::string &directory, size_t output) {
    return directory + "/" + std::to_string(output) + ".bin";
}

std::span<const halide_dimension_t> dimensions_of(const halide_buffer_t &buffer) {
    return {buffer.dim, static_cast<size_t>(buffer.dimensions)};
}

// The elements of a buffer in the order of the coordinates, whatever the strides; copied if they lie otherwise.
class Dense {
public:
    explicit Dense(const halide_buffer_t &buffer)
        : view_(buffer.host, static_cast<size_t>(num_elements(dimensions_of(buffer)) * buffer.type.bytes())) {
        if (!is_dense(dimensions_of(buffer))) {
            copy_ = copied(buffer, view_.size());
            view_ = copy_;
        }
    }

    std::span<const uint8_t> bytes() const { return view_; }

private:
    static bool is_dense(std::span<const halide_dimension_t> dimensions) {
        int64_t stride = 1;
        for (const halide_dimension_t &dimension : dimensions) {
            if (dimension.stride != stride) {
                return false;
            }
            stride *= dimension.extent;
        }
        return true;
    }

    static std::vector<uint8_t> copied(const halide_buffer_t &buffer, size_t size) {
        const auto bytes = static_cast<size_t>(buffer.type.bytes());
        std::vector<uint8_t> data(size);
        uint8_t *to = data.data();
        Rows(dimensions_of(buffer))
            .visit([&](const std::vector<int32_t> &, int64_t offset, int32_t count, int32_t stride) {
                const uint8_t *from = buffer.host + offset * static_cast<int64_t>(bytes);
                for (int32_t i = 0; i < count;
                     i++, to += bytes, from += static_cast<int64_t>(stride) * static_cast<int64_t>(bytes)) {
                    std::memcpy(to, from, bytes);
                }
            });
        return data;
    }

    std::span<const uint8_t> view_;
    std::vector<uint8_t> copy_;
};

std::string example(const halide_buffer_t &buffer, size_t output, size_t element, double actual, double expected) {
    std::ostringstream text;
    text.precision(9);
    text << "output " << output << " at (";
    for (int d = 0; d < buffer.dimensions; d++) {
        const auto extent = static_cast<size_t>(buffer.dim[d].extent);
        text << (d > 0 ? ", " : "") << buffer.dim[d].min + static_cast<int64_t>(element % extent);
        element /= extent;
    }
    text << ") is " << actual << " instead of " << expected;
    return text.str();
}

// A file of this many bytes, in memory as long as this is there.
class MappedFile {
public:
    MappedFile(const std::string &path, size_t size) : size_(size) {
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status{};
        const bool is_right = file >= 0 && fstat(file, &status) == 0 && static_cast<size_t>(status.st_size) == size;
        // What is empty cannot be mapped.
        memory_ = is_right && size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0) : nullptr;
        if (file >= 0) {
            ::close(file);
        }
        if (!is_right || memory_ == MAP_FAILED) {
            throw std::runtime_error("the expected output in " + path + " is missing or has another size");
        }
    }
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;
    ~MappedFile() {
        if (memory_) {
            munmap(memory_, size_);
        }
    }

    std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t *>(memory_), size_}; }

private:
    size_t size_;
    void *memory_ = nullptr;
};

}  // namespace

std::string write_outputs(const std::vector<const halide_buffer_t *> &outputs, const std::string &directory) {
    std::string description;
    for (size_t o = 0; o < outputs.size(); o++) {
        const Dense dense(*outputs[o]);
        const std::span<const uint8_t> data = dense.bytes();
        std::ofstream file(path_of(directory, o), std::ios::binary);
        if (!file.write(reinterpret_cast<const char *>(data.data()), static_cast<std::streamsize>(data.size()))
                 .flush()) {
            throw std::runtime_error("cannot write the outputs to " + directory);
        }
        description += (o > 0 ? ";" : "") + std::to_string(o) + ' ' + numpy_type(outputs[o]->type);
        for (const halide_dimension_t &dimension : dimensions_of(*outputs[o])) {
            description += ' ' + std::to_string(dimension.extent);
        }
    }
    return description;
}

std::string compare_outputs(const std::vector<const halide_buffer_t *> &outputs, const std::string &directory,
                            const Tolerance &tolerance) {
    std::string answer = "points";
    std::string first;
    for (size_t o = 0; o < outputs.size(); o++) {
        const halide_type_t type = outputs[o]->type;
        const Dense actual(*outputs[o]);
        const MappedFile expected(path_of(directory, o), actual.bytes().size());
        const auto bytes = static_cast<size_t>(type.bytes());
        const Difference found = difference(type, actual.bytes(), expected.bytes(), tolerance);
        if (found.count > 0 && first.empty()) {
            const size_t at = found.first * bytes;
            first = example(*outputs[o], o, found.first, as_double(type, &actual.bytes()[at]),
                            as_double(type, &expected.bytes()[at]));
        }
        answer += " " + std::to_string(found.count) + " of " + std::to_string(actual.bytes().size() / bytes);
    }
    return answer + (first.empty() ? "" : ": " + first);
}

}  // namespace halidegym
