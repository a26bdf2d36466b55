#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "problem/expression.h"

namespace halidegym {

// One symbol or constant that others are added to, subtracted from, multiplied by, compared with, or that constants
// divide, one after another, in 32 bits: what clamps, pyramids and convolutions make of coordinates, and so nearly all
// expressions of a search.
class LeafChain {
public:
    // Nothing if the code is anything else.
    static std::optional<LeafChain> of(std::span<const Instruction> code) {
        LeafChain chain;
        std::optional<uint16_t> last;  // instruction that the next step takes
        for (size_t i = 0; i < code.size(); i++) {
            if (code[i].type != int32_type) {
                return std::nullopt;
            }
            if (is_leaf(code[i])) {
                continue;
            }
            if (!last) {
                last = code[i].operands[0];
                chain.start_ = leaf(code[*last]);
            }
            if (!chain.add(code[i], *last, code)) {
                return std::nullopt;
            }
            last = static_cast<uint16_t>(i);
        }
        if (!last) {
            chain.start_ = leaf(code.back());
            return chain;
        }
        return *last + 1u == code.size() ? std::optional(chain) : std::nullopt;
    }

    // Nothing if a value on the way leaves its type.
    std::optional<int64_t> evaluate(std::span<const int64_t> symbols) const {
        int64_t value = start_.value(symbols);
        for (const Step &step : steps_) {
            const int64_t other = step.other.value(symbols);
            switch (step.opcode) {
            case Opcode::Min:
                value = std::min(value, other);
                continue;
            case Opcode::Max:
                value = std::max(value, other);
                continue;
            case Opcode::Div:
                value = value >= 0 ? value / other : -((other - 1 - value) / other);
                continue;
            case Opcode::Mul:
                value *= other;
                break;
            case Opcode::Sub:
                value = step.comes_second ? other - value : value - other;
                break;
            default:
                value += other;
            }
            if (value != static_cast<int32_t>(value)) {
                return std::nullopt;
            }
        }
        return value;
    }

private:
    struct Leaf {
        bool is_symbol = false;
        int64_t number = 0;  // of the symbol, or the constant

        int64_t value(std::span<const int64_t> symbols) const {
            return is_symbol ? static_cast<int32_t>(symbols[static_cast<size_t>(number)]) : number;
        }
    };
    struct Step {
        Opcode opcode;
        bool comes_second;  // of the two operands, the chain so far
        Leaf other;
    };

    static bool is_leaf(const Instruction &instruction) {
        return instruction.opcode == Opcode::Constant || instruction.opcode == Opcode::Symbol;
    }
    static Leaf leaf(const Instruction &instruction) {
        return {instruction.opcode == Opcode::Symbol, instruction.immediate};
    }

    bool add(const Instruction &instruction, uint16_t last, std::span<const Instruction> code) {
        const auto [first, second, third] = instruction.operands;
        const bool divides = instruction.opcode == Opcode::Div;
        const bool is_step = divides || instruction.opcode == Opcode::Add || instruction.opcode == Opcode::Sub ||
                             instruction.opcode == Opcode::Mul || instruction.opcode == Opcode::Min ||
                             instruction.opcode == Opcode::Max;
        const bool comes_second = second == last && !divides;
        const Instruction &other = code[comes_second ? first : second];
        if (!is_step || (first != last && (divides || second != last)) || !is_leaf(other) ||
            (divides && (other.opcode != Opcode::Constant || other.immediate <= 0))) {
            return false;
        }
        steps_.push_back({instruction.opcode, comes_second, leaf(other)});
        return true;
    }

    Leaf start_;
    std::vector<Step> steps_;
};

}  // namespace halidegym
