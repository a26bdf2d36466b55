#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halidegym {

// The type of a scalar value: a signed or unsigned integer of 1 to 64 bits (unsigned of 1 bit is bool), or a float of
// 32 or 64.
struct ScalarType {
    enum class Kind : uint8_t { Int, UInt, Float };
    Kind kind = Kind::Int;
    uint8_t bits = 32;

    constexpr bool is_float() const { return kind == Kind::Float; }
    constexpr bool is_bool() const { return kind == Kind::UInt && bits == 1; }
    friend constexpr bool operator==(const ScalarType &, const ScalarType &) = default;
};

inline constexpr ScalarType int32_type{ScalarType::Kind::Int, 32};
inline constexpr ScalarType int64_type{ScalarType::Kind::Int, 64};
inline constexpr ScalarType bool_type{ScalarType::Kind::UInt, 1};

// The numbers are part of the file format (serialize.h): append only.
enum class Opcode : uint8_t {
    Constant,
    Symbol,
    Cast,
    SaturatingCast,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Min,
    Max,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    And,
    Or,
    Not,
    Select,
    Abs,
    AbsoluteDifference,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    BitNot,
    PopulationCount,
    LeadingZeros,
    TrailingZeros,
    Round,  // to the nearest, ties to even
    Floor,
    Ceil,
    Trunc,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Pow,
    Atan2,
    IsNan,
    IsInf,
    IsFinite,
};
inline constexpr int num_opcodes = static_cast<int>(Opcode::IsFinite) + 1;

// How many of an instruction's operands the opcode reads, the first ones.
int num_operands(Opcode opcode);

// Computes one value from the values of earlier instructions.
struct Instruction {
    Opcode opcode = Opcode::Constant;
    ScalarType type;                     // of the value
    ScalarType operand_type;             // of the last operand; equal to `type` where there is none
    std::array<uint16_t, 3> operands{};  // indices of earlier instructions
    // Constant: the value; a float's as the bits of a double. Symbol: its index.
    int64_t immediate = 0;

    friend bool operator==(const Instruction &, const Instruction &) = default;
};

class LeafChain;

// What evaluates an expression outside the bytecode's language.
class ExternalExpression {
public:
    virtual ~ExternalExpression() = default;
    virtual int64_t evaluate(std::span<const int64_t> symbols) const = 0;
    virtual std::string text() const = 0;
};

// A bounds expression over integer symbols, compiled to a small typed bytecode that agrees with Halide's simplifier on
// immediates (docs/specification/function-dag.md, section 6.2). The code is in static single assignment form:
// instruction i computes value i, and the last one is the result. Immutable; copies share the code.
//
// A value can be undetermined: a 32- or 64-bit signed overflow, a shift by the type's width or more, a NaN or infinity
// cast to an integer. As in the simplifier it spreads to whatever uses it, except through a select that does not choose
// it or a logical operator that the other side decides.
class Expression {
public:
    // Throws InvalidParameter if the code is malformed, so whatever was constructed can be evaluated.
    explicit Expression(std::vector<Instruction> code);
    explicit Expression(std::shared_ptr<const ExternalExpression> external);

    // Value for the given symbols, each first truncated to 32 bits. Throws InternalError if there is none (the value is
    // undetermined, or whatever the simplifier would not fold).
    int64_t evaluate(std::span<const int64_t> symbols) const;

    // Whether the expression is plain data: it can be stored, and needs no Halide to be evaluated.
    bool is_portable() const { return external_ == nullptr; }
    // Length of the shortest list of symbols that evaluate() accepts; 0 if not portable.
    int num_symbols() const { return num_symbols_; }
    // How an expression that is not portable reads; empty if it is portable.
    std::string text() const { return external_ ? external_->text() : std::string(); }
    // Empty if not portable.
    std::span<const Instruction> code() const {
        return code_ ? std::span<const Instruction>(*code_) : std::span<const Instruction>();
    }

    // Expressions that are not portable are equal if they share their evaluator.
    friend bool operator==(const Expression &a, const Expression &b);

private:
    std::shared_ptr<const std::vector<Instruction>> code_;
    std::shared_ptr<const LeafChain> chain_;  // of the same value where the code is one, else null
    std::shared_ptr<const ExternalExpression> external_;
    int num_symbols_ = 0;
};

}  // namespace halidegym
