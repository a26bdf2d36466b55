#include "runner/outputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "runner/points.h"

namespace halidegym {
namespace {

// Of outputs: what sums of numbers around 1 leave of each other is below a thousandth of it.
constexpr double least_scale = 1e-4;

// Between neighbours, relative to them: what rounds to one of them in one schedule may round to the other in the next.
constexpr double bfloat_step = 0x1p-7;

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

// The elements in the order of the coordinates, whatever the strides.
std::vector<uint8_t> dense(const halide_buffer_t &buffer) {
    const auto bytes = static_cast<size_t>(buffer.type.bytes());
    std::vector<uint8_t> data(static_cast<size_t>(num_elements(dimensions_of(buffer))) * bytes);
    uint8_t *to = data.data();
    for_each_row(dimensions_of(buffer),
                 [&](const std::vector<int32_t> &, int64_t offset, int32_t count, int32_t stride) {
                     const uint8_t *from = buffer.host + offset * static_cast<int64_t>(bytes);
                     if (stride == 1) {
                         std::memcpy(to, from, static_cast<size_t>(count) * bytes);
                         to += static_cast<size_t>(count) * bytes;
                         return;
                     }
                     for (int32_t i = 0; i < count;
                          i++, to += bytes, from += static_cast<int64_t>(stride) * static_cast<int64_t>(bytes)) {
                         std::memcpy(to, from, bytes);
                     }
                 });
    return data;
}

template <typename T>
T load(const uint8_t *from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

double half_to_double(uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const int mantissa = bits & 1023;
    const double magnitude = exponent == 0   ? std::ldexp(mantissa, -24)
                             : exponent < 31 ? std::ldexp(mantissa + 1024, exponent - 25)
                             : mantissa == 0 ? INFINITY
                                             : NAN;
    return bits >> 15 ? -magnitude : magnitude;
}

double as_double(halide_type_t type, const uint8_t *from) {
    if (type.code == halide_type_bfloat) {
        return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(from)) << 16);
    }
    if (type.code == halide_type_float) {
        return type.bits == 64   ? load<double>(from)
               : type.bits == 32 ? load<float>(from)
                                 : half_to_double(load<uint16_t>(from));
    }
    const bool is_signed = type.code == halide_type_int;
    switch (type.bytes()) {
    case 1:
        return is_signed ? load<int8_t>(from) : load<uint8_t>(from);
    case 2:
        return is_signed ? load<int16_t>(from) : load<uint16_t>(from);
    case 4:
        return is_signed ? load<int32_t>(from) : load<uint32_t>(from);
    default:
        return is_signed ? static_cast<double>(load<int64_t>(from)) : static_cast<double>(load<uint64_t>(from));
    }
}

bool is_float(halide_type_t type) {
    return type.code == halide_type_float || type.code == halide_type_bfloat;
}

// The largest magnitude, of numbers that are finite.
double largest(halide_type_t type, const std::vector<uint8_t> &data) {
    double most = 0;
    for (size_t at = 0; at < data.size(); at += static_cast<size_t>(type.bytes())) {
        const double magnitude = std::abs(as_double(type, &data[at]));
        most = std::isfinite(magnitude) ? std::max(most, magnitude) : most;
    }
    return most;
}

bool equal(halide_type_t type, const uint8_t *actual, const uint8_t *expected, const Tolerance &tolerance) {
    if (std::memcmp(actual, expected, static_cast<size_t>(type.bytes())) == 0) {
        return true;
    }
    const double a = as_double(type, actual);
    const double e = as_double(type, expected);
    if (!is_float(type)) {
        return a != e && std::abs(a - e) <= tolerance.integer;  // equal as doubles, they are huge and different
    }
    if (!std::isfinite(a) || !std::isfinite(e)) {
        return a == e || (std::isnan(a) && std::isnan(e));
    }
    return std::abs(a - e) <= tolerance.absolute + tolerance.relative * std::abs(e);
}

// The elements that are too far off.
std::vector<size_t> differing_points(halide_type_t type, const std::vector<uint8_t> &actual,
                                     const std::vector<uint8_t> &expected, Tolerance tolerance) {
    if (is_float(type)) {
        tolerance.absolute *= std::clamp(largest(type, expected), least_scale, 1.0);
    }
    if (type.code == halide_type_bfloat) {
        tolerance.relative = std::max(tolerance.relative, bfloat_step);
    }
    const auto bytes = static_cast<size_t>(type.bytes());
    std::vector<size_t> points;
    for (size_t at = 0; at < actual.size(); at += bytes) {
        if (!equal(type, &actual[at], &expected[at], tolerance)) {
            points.push_back(at / bytes);
        }
    }
    return points;
}

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

std::vector<uint8_t> read(const std::string &path, size_t size) {
    std::vector<uint8_t> data(size);
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char *>(data.data()), static_cast<std::streamsize>(size)) || file.peek() != EOF) {
        throw std::runtime_error("the expected output in " + path + " is missing or has another size");
    }
    return data;
}

}  // namespace

std::string write_outputs(const std::vector<const halide_buffer_t *> &outputs, const std::string &directory) {
    std::string description;
    for (size_t o = 0; o < outputs.size(); o++) {
        const std::vector<uint8_t> data = dense(*outputs[o]);
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
        const std::vector<uint8_t> actual = dense(*outputs[o]);
        const std::vector<uint8_t> expected = read(path_of(directory, o), actual.size());
        const auto bytes = static_cast<size_t>(type.bytes());
        const std::vector<size_t> differing =
            actual == expected ? std::vector<size_t>() : differing_points(type, actual, expected, tolerance);
        if (!differing.empty() && first.empty()) {
            const size_t at = differing.front() * bytes;
            first = example(*outputs[o], o, differing.front(), as_double(type, &actual[at]),
                            as_double(type, &expected[at]));
        }
        answer += " " + std::to_string(differing.size()) + " of " + std::to_string(actual.size() / bytes);
    }
    return answer + (first.empty() ? "" : ": " + first);
}

}  // namespace halidegym
