#include "halide/type_scan.h"

#include <utility>

namespace halidegym {

namespace {

using namespace Halide::Internal;
using Halide::Expr;

class Scanner : public IRVisitor {
    using IRVisitor::visit;

    const std::vector<std::string> &pure_args;

    void consider(const Halide::Type &type) {
        if (type.bits() > 1 && (scan.narrowest.bits() == 0 || type.bits() < scan.narrowest.bits())) {
            scan.narrowest = type;
        }
    }

    void visit(const IntImm *op) override { consider(op->type); }

    void visit(const UIntImm *op) override { consider(op->type); }

    void visit(const FloatImm *op) override { consider(op->type); }

    void visit(const Variable *op) override { consider(op->type); }

    void visit(const Cast *op) override {
        IRVisitor::visit(op);
        consider(op->type);
    }

    void visit(const Reinterpret *op) override {
        IRVisitor::visit(op);
        consider(op->type);
    }

    void visit(const Call *op) override {
        scan.calls[op->name]++;
        IRVisitor::visit(op);
        if (op->call_type == Call::Halide || op->call_type == Call::Image) {
            scan.pointwise = scan.pointwise && is_at_pure_args(op);
        }
        consider(op->type);
    }

    bool is_at_pure_args(const Call *op) const {
        if (op->args.size() != pure_args.size()) {
            return false;
        }
        for (size_t i = 0; i < pure_args.size(); i++) {
            const Variable *variable = op->args[i].as<Variable>();
            if (!variable || variable->name != pure_args[i]) {
                return false;
            }
        }
        return true;
    }

public:
    TypeScan scan;

    explicit Scanner(const std::vector<std::string> &pure_args) : pure_args(pure_args) {}
};

}  // namespace

Expr bundle_of(const Definition &definition) {
    std::vector<Expr> parts = definition.args();
    parts.insert(parts.end(), definition.values().begin(), definition.values().end());
    parts.push_back(definition.predicate());
    return Call::make(Halide::Int(32), "dummy", parts, Call::Extern);
}

TypeScan scan_types(const Expr &bundle, const std::vector<std::string> &pure_args) {
    Scanner scanner(pure_args);
    bundle.accept(&scanner);
    return std::move(scanner.scan);
}

}  // namespace halidegym
