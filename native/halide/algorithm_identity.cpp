#include "halide/algorithm_identity.h"

#include <bit>
#include <cstdint>
#include <map>
#include <sstream>
#include <variant>
#include <vector>

#include "halide/func_graph.h"
#include "halide/parameters.h"

namespace halidegym {

using namespace Halide::Internal;
using Halide::Expr;

namespace {

// Names are unique in a process, so what has one gets a number instead, in the order of first occurrence.
class Numbers {
public:
    // The number of a name, and whether it is a new one.
    std::pair<int, bool> of(const std::string &name) {
        const auto [entry, is_new] = numbers_.try_emplace(name, static_cast<int>(numbers_.size()));
        return {entry->second, is_new};
    }

private:
    std::map<std::string, int> numbers_;
};

// Of a Let that begins a series of random numbers, the series' seeds, which depend on how many the process has defined
// before; of another one, nothing. The last coefficient of the polynomial by which Halide makes one number of another
// is always this one.
std::string seeds_of_random_numbers(const Let *op) {
    const Add *start = op->value.as<Add>(), *polynomial = op->body.as<Add>();
    if (!start || !polynomial) {
        return "";
    }
    const UIntImm *first = start->a.as<UIntImm>(), *second = start->b.as<UIntImm>(),
                  *last = polynomial->b.as<UIntImm>();
    if (!first || !second || !last || last->value != 576942909) {
        return "";
    }
    return std::to_string(first->value) + "+" + std::to_string(second->value);
}

class Writer : public IRGraphVisitor {
public:
    std::string run(const Halide::Pipeline &pipeline) {
        for (const Halide::Func &output : pipeline.outputs()) {
            write_func(output.function());
        }
        for (size_t next = 0; next < found_.size(); next++) {
            define(Function(found_[next]));  // a copy, since the vector grows on the way
        }
        return std::move(text_).str();
    }

private:
    using IRGraphVisitor::visit;

    // Unlike a graph's visitor, it writes what several expressions share as often as it occurs.
    void include(const Expr &e) override {
        text_ << '(' << static_cast<int>(e->node_type) << ' ' << e.type() << ' ';
        e.accept(this);
        text_ << ')';
    }

    void visit(const IntImm *op) override { text_ << op->value; }

    void visit(const UIntImm *op) override { text_ << op->value; }

    void visit(const FloatImm *op) override { text_ << std::bit_cast<uint64_t>(op->value); }

    void visit(const StringImm *op) override { write_bytes(op->value.data(), op->value.size()); }

    void visit(const Variable *op) override {
        if (op->param.defined()) {
            write_parameter_of(op->param);
            text_ << op->name.substr(op->param.name().size());  // such as ".min.0" of a buffer
        } else {
            text_ << 'v' << variables_.of(op->name).first;
        }
    }

    void visit(const Let *op) override {
        if (const std::string seeds = seeds_of_random_numbers(op); !seeds.empty()) {
            text_ << 'r' << seeds_.of(seeds).first;
        } else {
            include(op->value);
        }
        text_ << 'v' << variables_.of(op->name).first;
        include(op->body);
    }

    void visit(const Call *op) override {
        text_ << static_cast<int>(op->call_type) << ' ' << op->value_index << ' ';
        if (op->func.defined()) {
            write_func(Function(op->func));
        } else if (op->param.defined()) {
            write_parameter_of(op->param);
        } else if (op->image.defined()) {
            write_buffer(op->image);
        } else {
            text_ << op->name;
        }
        IRGraphVisitor::visit(op);
    }

    void write_func(const Function &function) {
        const auto [number, is_new] = funcs_.of(function.name());
        if (is_new) {
            found_.push_back(function);
        }
        text_ << 'f' << number;
    }

    void write_parameter_of(const Halide::Parameter &parameter) {
        const auto [number, is_new] = parameters_.of(parameter.name());
        text_ << 'p' << number;
        if (!is_new) {
            return;
        }
        const ParameterData data = read_parameter(parameter);
        text_ << '[' << data.type << ' ' << data.dimensions << ' ' << data.host_alignment;
        for (const auto &[what, constant] : data.values) {
            text_ << ' ' << what << ' ' << constant.first << ' ';
            std::visit([&](auto value) { text_ << std::bit_cast<uint64_t>(value); }, constant.second);
        }
        text_ << ']';
        if (parameter.is_buffer() && parameter.buffer().defined()) {
            write_buffer(parameter.buffer());
        }
    }

    void write_buffer(const Halide::Buffer<> &buffer) {
        text_ << '[' << buffer.type();
        for (int d = 0; d < buffer.dimensions(); d++) {
            text_ << ' ' << buffer.dim(d).min() << ' ' << buffer.dim(d).extent() << ' ' << buffer.dim(d).stride();
        }
        text_ << ']';
        const Halide::Runtime::Buffer<> packed = buffer.get()->copy();  // without what lies between its rows
        write_bytes(static_cast<const char *>(packed.data()), packed.size_in_bytes());
    }

    void write_bytes(const char *bytes, size_t size) {
        text_ << size << ':';
        text_.write(bytes, static_cast<std::streamsize>(size));
    }

    void define(const Function &function) {
        variables_ = Numbers();
        for (const std::string &arg : function.args()) {
            variables_.of(arg);
        }
        text_ << "\nf" << funcs_.of(function.name()).first << ' ' << function.dimensions();
        for (int s = 0; s < num_stages(function); s++) {
            define(definition_of(function, s));
        }
    }

    void define(const Definition &definition) {
        text_ << "\n  ";
        for (const ReductionVariable &variable : definition.schedule().rvars()) {
            text_ << 'v' << variables_.of(variable.var).first;
            include(variable.min);
            include(variable.extent);
        }
        include(definition.predicate());
        for (const Expr &arg : definition.args()) {
            include(arg);
        }
        text_ << '=';
        for (const Expr &value : definition.values()) {
            include(value);
        }
    }

    std::ostringstream text_;
    Numbers funcs_, parameters_, seeds_, variables_;
    std::vector<Function> found_;
};

}  // namespace

std::string algorithm_identity(const Halide::Pipeline &pipeline) {
    return Writer().run(pipeline);
}

}  // namespace halidegym
