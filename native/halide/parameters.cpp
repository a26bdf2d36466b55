#include "halide/parameters.h"

#include <array>
#include <cstring>
#include <optional>

#include "problem/error.h"

namespace halidegym {

using namespace Halide::Internal;
using Halide::Expr;
using Halide::Parameter;
using Halide::Type;

namespace {

struct TypeName {
    halide_type_code_t code;
    const char *prefix;
};
constexpr std::array type_names{TypeName{halide_type_int, "int"}, TypeName{halide_type_uint, "uint"},
                                TypeName{halide_type_float, "float"}, TypeName{halide_type_bfloat, "bfloat"},
                                TypeName{halide_type_handle, "handle"}};

std::string name_of(const Type &type) {
    for (const TypeName &entry : type_names) {
        if (type.code() == entry.code) {
            return entry.prefix + std::to_string(type.bits());
        }
    }
    throw InternalError("A Halide type of an unknown kind.");
}

Type type_named(const std::string &name) {
    for (const TypeName &entry : type_names) {
        const std::string prefix = entry.prefix;
        const std::string bits = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
        if (!bits.empty() && bits.size() <= 2 && bits.find_first_not_of("0123456789") == std::string::npos) {
            return Type(entry.code, std::stoi(bits), 1);
        }
    }
    throw InvalidParameter("'" + name + "' is no Halide type; expected one such as int32, uint8 or float32.");
}

std::optional<TypedConstant> constant_of(const Expr &e) {
    const Expr folded = simplify(e);
    const std::string type = name_of(folded.type());
    if (const IntImm *op = folded.as<IntImm>()) {
        return TypedConstant{type, op->value};
    }
    if (const UIntImm *op = folded.as<UIntImm>()) {
        return TypedConstant{type, op->value};
    }
    if (const FloatImm *op = folded.as<FloatImm>()) {
        return TypedConstant{type, op->value};
    }
    return std::nullopt;
}

Expr expression_of(const TypedConstant &constant) {
    const Type type = type_named(constant.first);
    return std::visit(
        [&](auto value) -> Expr {
            if (type.is_int()) {
                return IntImm::make(type, static_cast<int64_t>(value));
            }
            if (type.is_uint()) {
                return UIntImm::make(type, static_cast<uint64_t>(value));
            }
            return FloatImm::make(type, static_cast<double>(value));
        },
        constant.second);
}

struct ScalarField {
    const char *name;
    Expr (Parameter::*get)() const;
    void (*set)(Parameter &, const Expr &);
};
constexpr std::array scalar_fields{
    ScalarField{"min", &Parameter::min_value, [](Parameter &p, const Expr &e) { p.set_min_value(e); }},
    ScalarField{"max", &Parameter::max_value, [](Parameter &p, const Expr &e) { p.set_max_value(e); }},
    ScalarField{"default", &Parameter::default_value, [](Parameter &p, const Expr &e) { p.set_default_value(e); }},
    ScalarField{"estimate", &Parameter::estimate, [](Parameter &p, const Expr &e) { p.set_estimate(e); }},
};

struct DimensionField {
    const char *name;
    Expr (Parameter::*get)(int) const;
    void (Parameter::*set)(int, const Expr &);
};
constexpr std::array dimension_fields{
    DimensionField{"min", &Parameter::min_constraint, &Parameter::set_min_constraint},
    DimensionField{"extent", &Parameter::extent_constraint, &Parameter::set_extent_constraint},
    DimensionField{"stride", &Parameter::stride_constraint, &Parameter::set_stride_constraint},
    DimensionField{"min_estimate", &Parameter::min_constraint_estimate, &Parameter::set_min_constraint_estimate},
    DimensionField{"extent_estimate", &Parameter::extent_constraint_estimate,
                   &Parameter::set_extent_constraint_estimate},
};

std::string key_of(const DimensionField &field, int dimension) {
    return field.name + ("." + std::to_string(dimension));
}

void read_field(ParameterData &data, const std::string &key, const Expr &e) {
    if (!e.defined()) {
        return;
    }
    const auto constant = constant_of(e);
    if (!constant) {
        throw UnsupportedPipeline("'" + key + "' of the parameter '" + data.name +
                                  "' is set to an expression, not to a constant. Set it to a number, or leave it out.");
    }
    data.values.emplace(key, *constant);
}

void write_value(Parameter &parameter, const TypedConstant &constant) {
    halide_scalar_value_t scalar{};
    const Type type = type_named(constant.first);
    std::visit(
        [&](auto value) {
            if (!type.is_float()) {
                scalar.u.u64 = static_cast<uint64_t>(value);
            } else if (type.bits() == 64) {
                scalar.u.f64 = static_cast<double>(value);
            } else {
                scalar.u.f32 = static_cast<float>(value);
            }
        },
        constant.second);
    parameter.set_scalar(type, scalar);
}

}  // namespace

ParameterData read_parameter(const Parameter &parameter) {
    ParameterData data;
    data.name = parameter.name();
    data.type = name_of(parameter.type());
    data.is_buffer = parameter.is_buffer();
    if (!data.is_buffer) {
        for (const ScalarField &field : scalar_fields) {
            read_field(data, field.name, (parameter.*field.get)());
        }
        if (parameter.has_scalar_value() && !parameter.type().is_handle()) {
            read_field(data, "value", parameter.scalar_expr());
        }
        return data;
    }
    data.dimensions = parameter.dimensions();
    data.host_alignment = parameter.host_alignment();
    for (int d = 0; d < data.dimensions; d++) {
        for (const DimensionField &field : dimension_fields) {
            read_field(data, key_of(field, d), (parameter.*field.get)(d));
        }
    }
    return data;
}

void write_parameter(Parameter parameter, const ParameterData &data) {
    const auto find = [&](const std::string &key) {
        const auto value = data.values.find(key);
        return value == data.values.end() ? Expr() : expression_of(value->second);
    };
    if (!data.is_buffer) {
        for (const ScalarField &field : scalar_fields) {
            if (const Expr e = find(field.name); e.defined()) {
                field.set(parameter, e);
            }
        }
        if (const auto value = data.values.find("value"); value != data.values.end()) {
            write_value(parameter, value->second);
        }
        return;
    }
    parameter.set_host_alignment(data.host_alignment);
    for (int d = 0; d < data.dimensions; d++) {
        for (const DimensionField &field : dimension_fields) {
            // Also where there is none: a new buffer parameter comes with a stride of 1 in dimension 0.
            (parameter.*field.set)(d, find(key_of(field, d)));
        }
    }
}

Halide::Pipeline restore_pipeline(std::string_view bytes, const std::vector<ParameterData> &parameters) {
    std::map<std::string, Parameter> by_name;
    for (const ParameterData &data : parameters) {
        Parameter parameter(type_named(data.type), data.is_buffer, data.dimensions, data.name);
        write_parameter(parameter, data);
        by_name.emplace(data.name, parameter);
    }
    try {
        return Halide::deserialize_pipeline(std::vector<uint8_t>(bytes.begin(), bytes.end()), by_name);
    } catch (const Halide::Error &e) {
        throw FormatError(std::string("Halide cannot read back a serialized pipeline: ") + e.what() +
                          "\nSerialize it anew with this version of Halide.");
    }
}

}  // namespace halidegym
