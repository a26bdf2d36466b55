#include "problem/expression.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "problem/error.h"
#include "problem/leaf_chain.h"
#include "problem/scalar_arithmetic.h"

namespace halidegym {

namespace {

using namespace scalar;

// Codes up to this length are evaluated without touching the heap.
constexpr size_t max_values_on_stack = 128;

// Operands are numbered in 16 bits.
constexpr size_t max_instructions = 65535;

constexpr int64_t max_symbols = 1 << 16;

// The value of an instruction whose operands are known; anything if they are not.
Value compute(const Instruction &instruction, Value a, Value b) {
    const ScalarType type = instruction.type;
    const ScalarType from = instruction.operand_type;
    switch (instruction.opcode) {
    case Opcode::Add:
        return add(type, a, b);
    case Opcode::Sub:
        return subtract(type, a, b);
    case Opcode::Mul:
        return multiply(type, a, b);
    case Opcode::Div:
        return divide(type, a, b);
    case Opcode::Mod:
        return modulo(type, a, b);
    case Opcode::Min:
        return less(from, b, a) ? b : a;
    case Opcode::Max:
        return less(from, a, b) ? b : a;
    case Opcode::Equal:
        return equal(from, a, b);
    case Opcode::NotEqual:
        return logical_not(equal(from, a, b));
    case Opcode::Less:
        return from_bool(less(from, a, b));
    case Opcode::LessEqual:
        return from_bool(!less(from, b, a));
    case Opcode::Not:
        return logical_not(a);
    case Opcode::Cast:
        return cast(type, from, a);
    case Opcode::SaturatingCast:
        return saturating_cast(type, from, a);
    case Opcode::Abs:
        if (from.is_float()) {
            return from_double(type, std::fabs(as_double(a)));
        }
        return {from.kind == Kind::Int ? static_cast<int64_t>(magnitude(a.bits)) : a.bits, true};
    case Opcode::AbsoluteDifference: {
        const auto difference = static_cast<uint64_t>(less(from, a, b) ? b.bits : a.bits) -
                                static_cast<uint64_t>(less(from, a, b) ? a.bits : b.bits);
        return {static_cast<int64_t>(difference), true};
    }
    case Opcode::ShiftLeft:
        return shift(type, from, a, b, true);
    case Opcode::ShiftRight:
        return shift(type, from, a, b, false);
    case Opcode::BitAnd:
        return {a.bits & b.bits, true};
    case Opcode::BitOr:
        return {a.bits | b.bits, true};
    case Opcode::BitXor:
        return {a.bits ^ b.bits, true};
    case Opcode::BitNot:
        return {wrap(type, ~a.bits), true};
    case Opcode::PopulationCount:
        return {wrap(type, std::popcount(zero_extended(type, a))), true};
    case Opcode::LeadingZeros:
        return {wrap(type, std::countl_zero(zero_extended(type, a)) - (64 - type.bits)), true};
    case Opcode::TrailingZeros:
        return {wrap(type, std::min<int>(std::countr_zero(zero_extended(type, a)), type.bits)), true};
    case Opcode::Pow:
        return from_double(type, std::pow(as_double(a), as_double(b)));
    case Opcode::Atan2:
        return from_double(type, std::atan2(as_double(a), as_double(b)));
    case Opcode::IsNan:
        return from_bool(std::isnan(as_double(a)));
    case Opcode::IsInf:
        return from_bool(std::isinf(as_double(a)));
    case Opcode::IsFinite:
        return from_bool(std::isfinite(as_double(a)));
    default:
        return from_double(type, math(instruction.opcode, as_double(a)));
    }
}

Value select(ScalarType type, Value condition, Value on_true, Value on_false) {
    if (condition.known) {
        return condition.bits != 0 ? on_true : on_false;
    }
    return on_true.known && on_false.known && !type.is_float() && on_true.bits == on_false.bits ? on_true
                                                                                                : undetermined;
}

// `decisive` is the operand value that settles a logical operator alone: false for And, true for Or.
Value logical(Value a, Value b, bool decisive) {
    if ((a.known && (a.bits != 0) == decisive) || (b.known && (b.bits != 0) == decisive)) {
        return from_bool(decisive);
    }
    return a.known && b.known ? from_bool(!decisive) : undetermined;
}

[[noreturn]] void throw_undetermined(std::span<const int64_t> symbols) {
    std::string values;
    for (const int64_t symbol : symbols) {
        values += (values.empty() ? "" : ", ") + std::to_string(symbol);
    }
    throw InternalError("a bounds expression has no value for the limits [" + values +
                        "]: it overflows, or Halide would not fold it to a constant; make the pipeline's estimates "
                        "smaller, or bound the coordinates with clamp()");
}

Value run(std::span<const Instruction> code, std::span<const int64_t> symbols, Value *values) {
    values[0] = undetermined;
    for (size_t i = 0; i < code.size(); ++i) {
        const Instruction &instruction = code[i];
        // Operands that the opcode does not have are number 0, which is a leaf, hence known.
        const Value a = values[instruction.operands[0]];
        const Value b = values[instruction.operands[1]];
        switch (instruction.opcode) {
        case Opcode::Constant:
            values[i] = {instruction.immediate, true};
            break;
        case Opcode::Symbol:
            values[i] = {static_cast<int32_t>(symbols[static_cast<size_t>(instruction.immediate)]), true};
            break;
        case Opcode::Select:
            values[i] = select(instruction.type, a, b, values[instruction.operands[2]]);
            break;
        case Opcode::And:
            values[i] = logical(a, b, false);
            break;
        case Opcode::Or:
            values[i] = logical(a, b, true);
            break;
        default:
            values[i] = compute(instruction, a, b);
            values[i].known &= a.known && b.known;
        }
    }
    return values[code.size() - 1];
}

}  // namespace

int num_operands(Opcode opcode) {
    switch (opcode) {
    case Opcode::Constant:
    case Opcode::Symbol:
        return 0;
    case Opcode::Select:
        return 3;
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Div:
    case Opcode::Mod:
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Equal:
    case Opcode::NotEqual:
    case Opcode::Less:
    case Opcode::LessEqual:
    case Opcode::And:
    case Opcode::Or:
    case Opcode::AbsoluteDifference:
    case Opcode::ShiftLeft:
    case Opcode::ShiftRight:
    case Opcode::BitAnd:
    case Opcode::BitOr:
    case Opcode::BitXor:
    case Opcode::Pow:
    case Opcode::Atan2:
        return 2;
    default:
        return 1;
    }
}

namespace {

bool is_math(Opcode opcode) {
    return opcode >= Opcode::Round && opcode <= Opcode::Atan2;
}

bool is_legal(ScalarType type) {
    switch (type.kind) {
    case Kind::Int:
    case Kind::UInt:
        return type.bits >= 1 && type.bits <= 64;
    case Kind::Float:
        return type.bits == 32 || type.bits == 64;
    }
    return false;
}

// Whether the types of the operands and of the value fit the opcode, so that no value is ever taken for one of another
// type.
bool is_well_typed(const Instruction &instruction, std::span<const Instruction> code) {
    const ScalarType type = instruction.type;
    const auto operand = [&](int i) { return code[instruction.operands[i]].type; };
    const int count = num_operands(instruction.opcode);
    if (instruction.operand_type != (count == 0 ? type : operand(count - 1))) {
        return false;
    }
    switch (instruction.opcode) {
    case Opcode::Constant:
        return type.is_float() || wrap(type, instruction.immediate) == instruction.immediate;
    case Opcode::Symbol:
        return type == int32_type && instruction.immediate >= 0 && instruction.immediate < max_symbols;
    case Opcode::Cast:
    case Opcode::SaturatingCast:
        return true;
    case Opcode::Equal:
    case Opcode::NotEqual:
    case Opcode::Less:
    case Opcode::LessEqual:
        return type.is_bool() && operand(0) == operand(1);
    case Opcode::And:
    case Opcode::Or:
        return type.is_bool() && operand(0).is_bool() && operand(1).is_bool();
    case Opcode::Not:
        return type.is_bool() && operand(0).is_bool();
    case Opcode::Select:
        return operand(0).is_bool() && operand(1) == type && operand(2) == type;
    case Opcode::Abs:
    case Opcode::AbsoluteDifference:
        return type.bits == operand(0).bits && type.is_float() == operand(0).is_float() && type.kind != Kind::Int &&
               operand(0) == operand(count - 1);
    case Opcode::ShiftLeft:
    case Opcode::ShiftRight:
        return !type.is_float() && operand(0) == type && !operand(1).is_float();
    case Opcode::IsNan:
    case Opcode::IsInf:
    case Opcode::IsFinite:
        return type.is_bool() && operand(0).is_float();
    case Opcode::BitAnd:
    case Opcode::BitOr:
    case Opcode::BitXor:
    case Opcode::BitNot:
    case Opcode::PopulationCount:
    case Opcode::LeadingZeros:
    case Opcode::TrailingZeros:
        return !type.is_float() && operand(0) == type && operand(count - 1) == type;
    default:
        return operand(0) == type && operand(count - 1) == type && (!is_math(instruction.opcode) || type.is_float());
    }
}

bool is_well_formed(const Instruction &instruction, std::span<const Instruction> code, size_t index) {
    if (static_cast<int>(instruction.opcode) >= num_opcodes || !is_legal(instruction.type)) {
        return false;
    }
    const int count = num_operands(instruction.opcode);
    for (int i = 0; i < 3; ++i) {
        if (i < count ? instruction.operands[i] >= index : instruction.operands[i] != 0) {
            return false;
        }
    }
    return (count == 0 || instruction.immediate == 0) && is_well_typed(instruction, code);
}

}  // namespace

Expression::Expression(std::vector<Instruction> code) {
    if (code.empty() || code.size() > max_instructions) {
        throw InvalidParameter("an expression needs 1 to " + std::to_string(max_instructions) + " instructions, got " +
                               std::to_string(code.size()));
    }
    for (size_t i = 0; i < code.size(); ++i) {
        if (!is_well_formed(code[i], code, i)) {
            throw InvalidParameter("instruction " + std::to_string(i) +
                                   " of an expression is malformed: its opcode, types or operands do not fit; build "
                                   "expressions with compile_expression()");
        }
        if (code[i].opcode == Opcode::Symbol) {
            num_symbols_ = std::max(num_symbols_, static_cast<int>(code[i].immediate) + 1);
        }
    }
    if (auto chain = LeafChain::of(code)) {
        chain_ = std::make_shared<const LeafChain>(*std::move(chain));
    }
    code_ = std::make_shared<const std::vector<Instruction>>(std::move(code));
}

Expression::Expression(std::shared_ptr<const ExternalExpression> external) : external_(std::move(external)) {
    if (external_ == nullptr) {
        throw InvalidParameter("an expression needs an evaluator, got none");
    }
}

int64_t Expression::evaluate(std::span<const int64_t> symbols) const {
    if (external_) {
        return external_->evaluate(symbols);
    }
    if (symbols.size() < static_cast<size_t>(num_symbols_)) {
        throw InvalidParameter("an expression over " + std::to_string(num_symbols_) + " symbols was given " +
                               std::to_string(symbols.size()) + " values");
    }
    if (chain_) {
        if (const auto value = chain_->evaluate(symbols)) {
            return *value;
        }
    }
    Value result;
    if (code_->size() <= max_values_on_stack) {
        std::array<Value, max_values_on_stack> values;  // left uninitialized: every value is written before it is read
        result = run(*code_, symbols, values.data());
    } else {
        result = run(*code_, symbols, std::make_unique_for_overwrite<Value[]>(code_->size()).get());
    }
    // As for Halide's as_const_int, only a signed integer counts as one.
    if (!result.known || code_->back().type.kind != Kind::Int) {
        throw_undetermined(symbols);
    }
    return result.bits;
}

bool operator==(const Expression &a, const Expression &b) {
    return a.external_ == b.external_ && std::ranges::equal(a.code(), b.code());
}

}  // namespace halidegym
