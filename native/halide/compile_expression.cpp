#include "halide/compile_expression.h"

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "problem/error.h"

namespace halidegym {

namespace {

namespace ir = Halide::Internal;
using Halide::Expr;

// Thrown inside the compiler only: the expression is none of the bytecode's.
struct OutsideLanguage {};

// Functions that the simplifier folds for float32; those for float64 it leaves alone
// (docs/specification/function-dag.md, section 6.2).
const std::map<std::string, Opcode> &folded_functions() {
    static const std::map<std::string, Opcode> functions = {
        {"floor_f32", Opcode::Floor},
        {"ceil_f32", Opcode::Ceil},
        {"trunc_f32", Opcode::Trunc},
        {"sqrt_f32", Opcode::Sqrt},
        {"exp_f32", Opcode::Exp},
        {"log_f32", Opcode::Log},
        {"sin_f32", Opcode::Sin},
        {"cos_f32", Opcode::Cos},
        {"tan_f32", Opcode::Tan},
        {"asin_f32", Opcode::Asin},
        {"acos_f32", Opcode::Acos},
        {"atan_f32", Opcode::Atan},
        {"sinh_f32", Opcode::Sinh},
        {"cosh_f32", Opcode::Cosh},
        {"tanh_f32", Opcode::Tanh},
        {"asinh_f32", Opcode::Asinh},
        {"acosh_f32", Opcode::Acosh},
        {"atanh_f32", Opcode::Atanh},
        {"pow_f32", Opcode::Pow},
        {"atan2_f32", Opcode::Atan2},
        {"is_nan_f32", Opcode::IsNan},
        {"is_nan_f64", Opcode::IsNan},
        {"is_inf_f32", Opcode::IsInf},
        {"is_inf_f64", Opcode::IsInf},
        {"is_finite_f32", Opcode::IsFinite},
        {"is_finite_f64", Opcode::IsFinite},
    };
    return functions;
}

std::optional<Opcode> folded_intrinsic(const ir::Call &call) {
    static const std::map<ir::Call::IntrinsicOp, Opcode> intrinsics = {
        {ir::Call::abs, Opcode::Abs},
        {ir::Call::absd, Opcode::AbsoluteDifference},
        {ir::Call::shift_left, Opcode::ShiftLeft},
        {ir::Call::shift_right, Opcode::ShiftRight},
        {ir::Call::bitwise_and, Opcode::BitAnd},
        {ir::Call::bitwise_or, Opcode::BitOr},
        {ir::Call::bitwise_xor, Opcode::BitXor},
        {ir::Call::bitwise_not, Opcode::BitNot},
        {ir::Call::popcount, Opcode::PopulationCount},
        {ir::Call::count_leading_zeros, Opcode::LeadingZeros},
        {ir::Call::count_trailing_zeros, Opcode::TrailingZeros},
        {ir::Call::saturating_cast, Opcode::SaturatingCast},
        {ir::Call::round, Opcode::Round},
    };
    for (const auto &[intrinsic, opcode] : intrinsics) {
        if (call.is_intrinsic(intrinsic)) {
            return opcode;
        }
    }
    return std::nullopt;
}

ScalarType scalar_type(const Halide::Type &type) {
    const auto bits = static_cast<uint8_t>(type.bits());
    if (type.is_scalar() && type.is_int()) {
        return {ScalarType::Kind::Int, bits};
    }
    if (type.is_scalar() && type.is_uint()) {
        return {ScalarType::Kind::UInt, bits};
    }
    if (type == Halide::Float(32) || type == Halide::Float(64)) {
        return {ScalarType::Kind::Float, bits};
    }
    throw OutsideLanguage();
}

class Compiler {
public:
    explicit Compiler(std::span<const std::string> symbols) : symbols_(symbols) {}

    uint16_t compile_result(const Expr &e) {
        const auto *division = e.as<ir::Div>();
        if (division == nullptr || e.type() != Halide::Int(32) || is_harmless_divisor(division->b)) {
            return compile(e);
        }
        // Only where a quotient is the result itself does the simplifier wrap min / -1; elsewhere it calls it an
        // overflow.
        const uint16_t a = operation(Opcode::Cast, int64_type, {compile(division->a)});
        const uint16_t b = operation(Opcode::Cast, int64_type, {compile(division->b)});
        return operation(Opcode::Cast, int32_type, {operation(Opcode::Div, int64_type, {a, b})});
    }

    uint16_t compile(const Expr &e) {
        const auto found = compiled_.find(e.get());
        if (found != compiled_.end()) {
            return found->second;
        }
        const uint16_t value = compile_node(e);
        compiled_.emplace(e.get(), value);
        return value;
    }

    std::vector<Instruction> take_code() { return std::move(code_); }

private:
    uint16_t compile_node(const Expr &e) {
        const ScalarType type = scalar_type(e.type());
        switch (e.node_type()) {
        case ir::IRNodeType::IntImm:
            return constant(type, e.as<ir::IntImm>()->value);
        case ir::IRNodeType::UIntImm:
            return constant(type, static_cast<int64_t>(e.as<ir::UIntImm>()->value));
        case ir::IRNodeType::FloatImm:
            return constant(type, std::bit_cast<int64_t>(e.as<ir::FloatImm>()->value));
        case ir::IRNodeType::Variable:
            return variable(*e.as<ir::Variable>());
        case ir::IRNodeType::Let:
            return let(*e.as<ir::Let>());
        case ir::IRNodeType::Cast:
            return operation(Opcode::Cast, type, {compile(e.as<ir::Cast>()->value)});
        case ir::IRNodeType::Reinterpret:
            return reinterpret(type, e.as<ir::Reinterpret>()->value);
        case ir::IRNodeType::Add:
            return binary(Opcode::Add, type, *e.as<ir::Add>());
        case ir::IRNodeType::Sub:
            return binary(Opcode::Sub, type, *e.as<ir::Sub>());
        case ir::IRNodeType::Mul:
            return binary(Opcode::Mul, type, *e.as<ir::Mul>());
        case ir::IRNodeType::Div:
            return binary(Opcode::Div, type, *e.as<ir::Div>());
        case ir::IRNodeType::Mod:
            return binary(Opcode::Mod, type, *e.as<ir::Mod>());
        case ir::IRNodeType::Min:
            return ordering(Opcode::Min, type, e.as<ir::Min>()->a, e.as<ir::Min>()->b);
        case ir::IRNodeType::Max:
            return ordering(Opcode::Max, type, e.as<ir::Max>()->a, e.as<ir::Max>()->b);
        case ir::IRNodeType::EQ:
            return binary(Opcode::Equal, type, *e.as<ir::EQ>());
        case ir::IRNodeType::NE:
            return binary(Opcode::NotEqual, type, *e.as<ir::NE>());
        case ir::IRNodeType::LT:
            return ordering(Opcode::Less, type, e.as<ir::LT>()->a, e.as<ir::LT>()->b);
        case ir::IRNodeType::LE:
            return ordering(Opcode::LessEqual, type, e.as<ir::LE>()->a, e.as<ir::LE>()->b);
        case ir::IRNodeType::GT:
            return ordering(Opcode::Less, type, e.as<ir::GT>()->b, e.as<ir::GT>()->a);
        case ir::IRNodeType::GE:
            return ordering(Opcode::LessEqual, type, e.as<ir::GE>()->b, e.as<ir::GE>()->a);
        case ir::IRNodeType::And:
            return binary(Opcode::And, type, *e.as<ir::And>());
        case ir::IRNodeType::Or:
            return binary(Opcode::Or, type, *e.as<ir::Or>());
        case ir::IRNodeType::Not:
            return operation(Opcode::Not, type, {compile(e.as<ir::Not>()->a)});
        case ir::IRNodeType::Select:
            return select(type, *e.as<ir::Select>());
        case ir::IRNodeType::Call:
            return call(type, *e.as<ir::Call>());
        default:
            throw OutsideLanguage();
        }
    }

    uint16_t constant(ScalarType type, int64_t bits) { return emit(leaf(Opcode::Constant, type, bits)); }

    static Instruction leaf(Opcode opcode, ScalarType type, int64_t immediate) {
        Instruction instruction;
        instruction.opcode = opcode;
        instruction.type = type;
        instruction.operand_type = type;
        instruction.immediate = immediate;
        return instruction;
    }

    // A value, once for all its uses.
    uint16_t emit(const Instruction &i) {
        const auto key = std::tuple(i.opcode, i.type.kind, i.type.bits, i.operand_type.kind, i.operand_type.bits,
                                    i.operands[0], i.operands[1], i.operands[2], i.immediate);
        if (code_.size() > UINT16_MAX) {
            throw OutsideLanguage();
        }
        const auto [entry, added] = numbers_.emplace(key, static_cast<uint16_t>(code_.size()));
        if (added) {
            code_.push_back(i);
        }
        return entry->second;
    }

    uint16_t operation(Opcode opcode, ScalarType type, std::initializer_list<uint16_t> operands) {
        Instruction instruction;
        instruction.opcode = opcode;
        instruction.type = type;
        instruction.operand_type = code_[*(operands.end() - 1)].type;
        std::copy(operands.begin(), operands.end(), instruction.operands.begin());
        return emit(instruction);
    }

    template <typename Node>
    uint16_t binary(Opcode opcode, ScalarType type, const Node &node) {
        const uint16_t a = compile(node.a);
        return operation(opcode, type, {a, compile(node.b)});
    }

    // Minimum, maximum and comparisons look through a `likely` if the simplifier knows the bounds of both operands.
    uint16_t ordering(Opcode opcode, ScalarType type, const Expr &left, const Expr &right) {
        const bool known = has_plain_bounds(without_likely(left)) && has_plain_bounds(without_likely(right));
        const uint16_t a = compile(known ? without_likely(left) : left);
        return operation(opcode, type, {a, compile(known ? without_likely(right) : right)});
    }

    uint16_t select(ScalarType type, const ir::Select &node) {
        const uint16_t condition = compile(without_likely(node.condition));
        const uint16_t on_true = compile(node.true_value);
        return operation(Opcode::Select, type, {condition, on_true, compile(node.false_value)});
    }

    uint16_t reinterpret(ScalarType type, const Expr &value) {
        if (type.is_float() || value.type().is_float()) {
            throw OutsideLanguage();
        }
        return operation(Opcode::Cast, type, {compile(value)});
    }

    uint16_t variable(const ir::Variable &node) {
        const auto let_value = lets_.find(node.name);
        if (let_value != lets_.end()) {
            return let_value->second;
        }
        const auto symbol = std::find(symbols_.begin(), symbols_.end(), node.name);
        if (symbol == symbols_.end() || node.type != Halide::Int(32)) {
            throw OutsideLanguage();
        }
        return emit(leaf(Opcode::Symbol, int32_type, symbol - symbols_.begin()));
    }

    uint16_t let(const ir::Let &node) {
        const uint16_t value = compile(node.value);
        // Inside the body the name, and with it a node that occurs outside as well, can mean something else.
        auto outer_lets = lets_;
        auto outer_compiled = std::exchange(compiled_, {});
        lets_.insert_or_assign(node.name, value);
        const uint16_t body = compile(node.body);
        lets_ = std::move(outer_lets);
        compiled_ = std::move(outer_compiled);
        return body;
    }

    uint16_t call(ScalarType type, const ir::Call &node) {
        std::optional<Opcode> opcode = folded_intrinsic(node);
        if (!opcode && node.call_type == ir::Call::PureExtern && folded_functions().count(node.name)) {
            opcode = folded_functions().at(node.name);
        }
        if (!opcode || static_cast<int>(node.args.size()) != num_operands(*opcode)) {
            throw OutsideLanguage();
        }
        // The simplifier folds a shift if it knows the bounds of the distance, which depends on how that was computed.
        const bool is_shift = opcode == Opcode::ShiftLeft || opcode == Opcode::ShiftRight;
        if (is_shift && !has_plain_bounds(node.args[1])) {
            throw OutsideLanguage();
        }
        const uint16_t a = compile(node.args[0]);
        if (node.args.size() == 1) {
            return operation(*opcode, type, {a});
        }
        return operation(*opcode, type, {a, compile(node.args[1])});
    }

    // Whether the simplifier keeps track of the bounds of an integer: of a symbol, a constant, and their conversions,
    // as long as they fit 64 signed bits.
    bool has_plain_bounds(const Expr &e) const {
        if (e.type().is_float() || e.type() == Halide::UInt(64)) {
            return false;
        }
        if (const auto *cast = e.as<ir::Cast>()) {
            return has_plain_bounds(cast->value);
        }
        const auto *variable = e.as<ir::Variable>();
        return e.as<ir::IntImm>() || e.as<ir::UIntImm>() || (variable && !lets_.count(variable->name));
    }

    static bool is_harmless_divisor(const Expr &e) {
        const auto divisor = ir::as_const_int(e);
        return divisor && *divisor != -1;
    }

    static Expr without_likely(const Expr &e) {
        const auto *call = e.as<ir::Call>();
        const bool likely =
            call && (call->is_intrinsic(ir::Call::likely) || call->is_intrinsic(ir::Call::likely_if_innermost));
        return likely ? call->args[0] : e;
    }

    using Key =
        std::tuple<Opcode, ScalarType::Kind, uint8_t, ScalarType::Kind, uint8_t, uint16_t, uint16_t, uint16_t, int64_t>;
    std::span<const std::string> symbols_;
    std::vector<Instruction> code_;
    std::map<Key, uint16_t> numbers_;
    std::map<const ir::IRNode *, uint16_t> compiled_;  // by identity, in the let scope in force
    std::map<std::string, uint16_t> lets_;
};

class SimplifiedExpression : public ExternalExpression {
public:
    SimplifiedExpression(Expr e, std::span<const std::string> symbols)
        : e_(std::move(e)), symbols_(symbols.begin(), symbols.end()) {}
    int64_t evaluate(std::span<const int64_t> symbols) const override {
        return simplify_to_integer(e_, symbols_, symbols);
    }
    std::string text() const override {
        std::ostringstream text;
        text << e_;
        return text.str();
    }

private:
    Expr e_;
    std::vector<std::string> symbols_;
};

}  // namespace

Expression compile_expression(const Expr &e, std::span<const std::string> symbols) {
    try {
        Compiler compiler(symbols);
        const uint16_t result = compiler.compile_result(e);
        std::vector<Instruction> code = compiler.take_code();
        // The result comes last; only operands of dropped let values can follow it.
        code.resize(result + size_t{1});
        return Expression(std::move(code));
    } catch (const OutsideLanguage &) {
        return Expression(std::make_shared<SimplifiedExpression>(e, symbols));
    }
}

int64_t simplify_to_integer(const Expr &e, std::span<const std::string> symbols, std::span<const int64_t> values) {
    if (values.size() < symbols.size()) {
        throw InvalidParameter("an expression over " + std::to_string(symbols.size()) + " symbols was given " +
                               std::to_string(values.size()) + " values");
    }
    try {
        std::map<std::string, Expr> replacements;
        for (size_t i = 0; i < symbols.size(); ++i) {
            replacements.emplace(symbols[i], ir::IntImm::make(Halide::Int(32), static_cast<int32_t>(values[i])));
        }
        const Expr simplified = ir::simplify(ir::substitute(replacements, e));
        if (const auto value = ir::as_const_int(simplified)) {
            return *value;
        }
        std::ostringstream message;
        message << "the bounds expression " << e << " is no constant for the given limits, but " << simplified
                << "; make the pipeline's estimates smaller, or bound the coordinates with clamp()";
        throw InternalError(message.str());
    } catch (const Halide::Error &error) {
        throw InternalError(std::string("Halide could not evaluate a bounds expression: ") + error.what());
    }
}

}  // namespace halidegym
