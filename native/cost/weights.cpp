#include "cost/weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "problem/error.h"

namespace halidegym {

namespace {

static_assert(std::endian::native == std::endian::little, "the file is read and written in memory order");

constexpr uint32_t signature = 0x68776631;
constexpr uint32_t feature_version = 3;  // of the algorithm features and of the schedule features
constexpr uint32_t num_tensors = 6;

// The tensors in the order of the file, each with its extents, innermost first.
template <typename AnyWeights, typename Visitor>
void for_each_tensor(AnyWeights &weights, Visitor &&visit) {
    visit("head1_filter", {head1_channels, num_operations, num_scalar_types}, std::span(weights.head1_filter));
    visit("head1_bias", {head1_channels}, std::span(weights.head1_bias));
    visit("head2_filter", {head2_channels, num_schedule_features}, std::span(weights.head2_filter));
    visit("head2_bias", {head2_channels}, std::span(weights.head2_bias));
    visit("conv1_filter", {num_coefficients, num_coefficients}, std::span(weights.conv1_filter));
    visit("conv1_bias", {num_coefficients}, std::span(weights.conv1_bias));
}

class Reader {
public:
    Reader(std::string_view bytes, const std::string &origin) : bytes_(bytes), origin_(origin) {}

    void expect(uint32_t value, const std::string &what) {
        uint32_t found = 0;
        read(std::as_writable_bytes(std::span(&found, 1)));
        if (found != value) {
            fail(what + " is " + std::to_string(found) + " instead of " + std::to_string(value));
        }
    }

    void read(const std::string &what, std::span<float> numbers) {
        read(std::as_writable_bytes(numbers));
        if (!std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); })) {
            fail(what + " has values that are not finite");
        }
    }

private:
    void read(std::span<std::byte> target) {
        if (bytes_.size() < target.size()) {
            fail("it ends too early");
        }
        std::memcpy(target.data(), bytes_.data(), target.size());
        bytes_.remove_prefix(target.size());
    }

    [[noreturn]] void fail(const std::string &reason) const {
        throw FormatError(
            "Cannot read cost model weights from " + origin_ + ": " + reason +
            ". Give a .weights file of Halide 21's Adams2019 cost model (feature version 3), as written by "
            "adams2019_retrain_cost_model.");
    }

    std::string_view bytes_;
    const std::string &origin_;
};

}  // namespace

Weights parse_weights(std::string_view bytes, const std::string &origin) {
    Reader reader(bytes, origin);
    reader.expect(signature, "the signature");
    reader.expect(feature_version, "the version of the algorithm features");
    reader.expect(feature_version, "the version of the schedule features");
    reader.expect(num_tensors, "the number of tensors");

    Weights weights;
    for_each_tensor(weights, [&](const std::string &name, std::initializer_list<int> extents, std::span<float> data) {
        reader.expect(static_cast<uint32_t>(extents.size()), "the number of dimensions of " + name);
        for (int extent : extents) {
            reader.expect(static_cast<uint32_t>(extent), "an extent of " + name);
        }
        reader.read(name, data);
    });
    return weights;
}

std::string serialize_weights(const Weights &weights) {
    std::string bytes;
    auto append = [&](std::span<const std::byte> source) {
        bytes.append(reinterpret_cast<const char *>(source.data()), source.size());
    };
    auto append_word = [&](uint32_t word) { append(std::as_bytes(std::span(&word, 1))); };

    for (uint32_t word : {signature, feature_version, feature_version, num_tensors}) {
        append_word(word);
    }
    for_each_tensor(weights, [&](const char *, std::initializer_list<int> extents, std::span<const float> data) {
        append_word(static_cast<uint32_t>(extents.size()));
        for (int extent : extents) {
            append_word(static_cast<uint32_t>(extent));
        }
        append(std::as_bytes(data));
    });
    return bytes;
}

}  // namespace halidegym
