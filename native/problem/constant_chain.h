#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "problem/expression.h"

namespace halidegym {

// One symbol that constants are added to, divided by, or compared with, one after another, in 32 bits: what clamps and
// pyramids make of coordinates, and so nearly all expressions of a search.
class ConstantChain {
public:
    // Nothing if the code is anything else.
    static std::optional<ConstantChain> of(std::span<const Instruction> code) {
        ConstantChain chain;
        std::optional<uint16_t> last;  // instruction that the next step takes
        for (size_t i = 0; i < code.size(); i++) {
            const Instruction &instruction = code[i];
            if (instruction.type != int32_type) {
                return std::nullopt;
            }
            if (instruction.opcode == Opcode::Constant) {
                continue;
            }
            if (instruction.opcode == Opcode::Symbol) {
                if (last) {
                    return std::nullopt;
                }
                chain.symbol_ = static_cast<size_t>(instruction.immediate);
            } else if (!last || !chain.add(instruction, *last, code)) {
                return std::nullopt;
            }
            last = static_cast<uint16_t>(i);
        }
        return last && *last + 1u == code.size() ? std::optional(chain) : std::nullopt;
    }

    // Nothing if a value on the way leaves its type.
    std::optional<int64_t> evaluate(std::span<const int64_t> symbols) const {
        int64_t value = static_cast<int32_t>(symbols[symbol_]);
        for (const Step &step : steps_) {
            switch (step.opcode) {
            case Opcode::Add:
                value += step.constant;
                if (value != static_cast<int32_t>(value)) {
                    return std::nullopt;
                }
                break;
            case Opcode::Div:
                value = value >= 0 ? value / step.constant : -((step.constant - 1 - value) / step.constant);
                break;
            case Opcode::Min:
                value = std::min(value, step.constant);
                break;
            default:
                value = std::max(value, step.constant);
            }
        }
        return value;
    }

private:
    struct Step {
        Opcode opcode;
        int64_t constant;
    };

    bool add(const Instruction &instruction, uint16_t last, std::span<const Instruction> code) {
        const auto [first, second, third] = instruction.operands;
        const bool commutes = instruction.opcode != Opcode::Div;
        const uint16_t other = second == last && commutes ? first : second;
        const bool is_step = instruction.opcode == Opcode::Add || instruction.opcode == Opcode::Min ||
                             instruction.opcode == Opcode::Max || instruction.opcode == Opcode::Div;
        if (!is_step || (first != last && second != last) || (!commutes && first != last) ||
            code[other].opcode != Opcode::Constant || code[other].type != int32_type) {
            return false;
        }
        const int64_t constant = code[other].immediate;
        steps_.push_back({instruction.opcode, constant});
        return commutes || constant > 0;
    }

    size_t symbol_ = 0;
    std::vector<Step> steps_;
};

}  // namespace halidegym
