#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <Halide.h>

namespace halidegym {

// A scalar constant and its exact Halide type ("int32", "uint1", "float32" ...), which estimates keep
// (docs/specification/function-dag.md, quirk Q18).
using TypedConstant = std::pair<std::string, std::variant<int64_t, uint64_t, double>>;

// What a pipeline's serialization loses of a Param or ImageParam, as plain data
// (docs/specification/benchmark-pipelines.md, section 19).
struct ParameterData {
    std::string name;
    std::string type;
    bool is_buffer = false;
    int dimensions = 0;
    int host_alignment = 0;  // bytes; buffers only
    // Scalars: "estimate", "min", "max", "default", "value". Buffers: "min.d", "extent.d", "stride.d",
    // "min_estimate.d", "extent_estimate.d" of each dimension d. Absent where the parameter has none.
    std::map<std::string, TypedConstant> values;
};

// Throws UnsupportedPipeline for a constraint that is no constant.
ParameterData read_parameter(const Halide::Parameter &parameter);

// Gives the parameter that the handle refers to everything in `data`; name, type and dimensions must already agree.
// Throws InvalidParameter for data that read_parameter could not have made.
void write_parameter(Halide::Parameter parameter, const ParameterData &data);

// The pipeline that was serialized to `bytes`, with its parameters as they were. Throws FormatError if Halide cannot
// read it; Halide does not survive bytes that were damaged, so a checksum has to be checked before.
Halide::Pipeline restore_pipeline(std::string_view bytes, const std::vector<ParameterData> &parameters);

}  // namespace halidegym
