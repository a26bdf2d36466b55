#include "halide/featurize.h"

#include <algorithm>
#include <utility>

#include "halide/derivative.h"
#include "halide/func_graph.h"

// Sections and quirks are those of docs/specification/function-dag.md.

namespace halidegym {

using namespace Halide::Internal;
using Halide::Expr;

namespace {

constexpr int num_scalar_types = 7;

// Rows of the operation histogram (section 8.3). Casts have a row, too, but are never counted.
enum class Operation {
    Const,
    Cast,
    Variable,
    Param,
    Add,
    Sub,
    Mod,
    Mul,
    Div,
    Min,
    Max,
    EQ,
    NE,
    LT,
    LE,
    And,
    Or,
    Not,
    Select,
    ImageCall,
    FuncCall,
    SelfCall,
    ExternCall,
    Let
};

enum class AccessType { LoadFunc, LoadSelf, LoadImage, Store };

// Offsets into the features (section 9.1).
constexpr int histogram_offset = num_scalar_types;
constexpr int pointwise_offset = 175;
constexpr int transpose_offset = 203;
constexpr int broadcast_offset = 231;
constexpr int slice_offset = 259;

int scalar_bucket(const Halide::Type &type) {
    enum { Bool, UInt8, UInt16, UInt32, UInt64, Float, Double };
    if (type.is_float() || type.is_bfloat()) {
        return type.bits() > 32 ? Double : Float;
    }
    return type.bits() == 1    ? Bool
           : type.bits() <= 8  ? UInt8
           : type.bits() <= 16 ? UInt16
           : type.bits() <= 32 ? UInt32
                               : UInt64;
}

// What a vector of matrix entries (a row or a column) looks like.
struct Line {
    int ones = 0;
    int zeros = 0;
    int size = 0;

    void add(const Rational &entry) {
        ones += entry.is(1);
        zeros += entry.is(0);
        size++;
    }
    bool is_unit() const { return ones == 1 && zeros == size - 1; }
    bool is_zero() const { return zeros == size; }
    bool is_unit_or_zero() const { return is_unit() || is_zero(); }
};

struct AccessClasses {
    bool pointwise;
    bool transpose;
    bool broadcast;
    bool slice;
};

// `matrix` has the given number of columns even if it has no rows (section 8.4).
AccessClasses classify_access(const LoadJacobian &matrix, int columns) {
    std::vector<Line> row_lines(matrix.rows);
    std::vector<Line> column_lines(columns);
    bool identity = matrix.rows == columns;
    for (int i = 0; i < matrix.rows; i++) {
        for (int j = 0; j < columns; j++) {
            const Rational entry = matrix.entry(i, j);
            row_lines[i].add(entry);
            column_lines[j].add(entry);
            identity = identity && entry.is(i == j ? 1 : 0);
        }
    }
    const auto all = [](const std::vector<Line> &lines, auto property) {
        return std::all_of(lines.begin(), lines.end(), [&](const Line &line) { return (line.*property)(); });
    };
    const bool unit_rows = all(row_lines, &Line::is_unit);
    const bool unit_columns = all(column_lines, &Line::is_unit);
    return {.pointwise = identity,
            .transpose = matrix.rows == columns && unit_rows && all(column_lines, &Line::is_unit_or_zero),
            .broadcast = unit_rows && unit_columns,
            .slice = all(row_lines, &Line::is_unit_or_zero) && unit_columns};
}

// A plain tree visitor: a subexpression that is shared counts once per occurrence.
class Featurizer : public IRVisitor {
    using IRVisitor::visit;

    const Function &function;
    const std::vector<Loop> &loops;
    Scope<Expr> lets;
    Derivatives derivatives;

    void count(Operation operation, const Halide::Type &type) {
        const int bucket = scalar_bucket(type);
        result.counts[bucket] = 1;
        result.counts[histogram_offset + num_scalar_types * static_cast<int>(operation) + bucket]++;
    }

    template <typename T>
    void visit_and_count(const T *op, Operation operation) {
        IRVisitor::visit(op);
        count(operation, op->type);
    }

    void visit(const IntImm *op) override { count(Operation::Const, op->type); }
    void visit(const UIntImm *op) override { count(Operation::Const, op->type); }
    void visit(const FloatImm *op) override { count(Operation::Const, op->type); }
    void visit(const Variable *op) override {
        count(op->param.defined() ? Operation::Param : Operation::Variable, op->type);
    }
    void visit(const Add *op) override { visit_and_count(op, Operation::Add); }
    void visit(const Sub *op) override { visit_and_count(op, Operation::Sub); }
    void visit(const Mod *op) override { visit_and_count(op, Operation::Mod); }
    void visit(const Mul *op) override { visit_and_count(op, Operation::Mul); }
    void visit(const Div *op) override { visit_and_count(op, Operation::Div); }
    void visit(const Min *op) override { visit_and_count(op, Operation::Min); }
    void visit(const Max *op) override { visit_and_count(op, Operation::Max); }
    void visit(const EQ *op) override { visit_and_count(op, Operation::EQ); }
    void visit(const NE *op) override { visit_and_count(op, Operation::NE); }
    void visit(const LT *op) override { visit_and_count(op, Operation::LT); }
    void visit(const GT *op) override { visit_and_count(op, Operation::LT); }
    void visit(const LE *op) override { visit_and_count(op, Operation::LE); }
    void visit(const GE *op) override { visit_and_count(op, Operation::LE); }
    void visit(const And *op) override { visit_and_count(op, Operation::And); }
    void visit(const Or *op) override { visit_and_count(op, Operation::Or); }
    void visit(const Not *op) override { visit_and_count(op, Operation::Not); }
    void visit(const Select *op) override { visit_and_count(op, Operation::Select); }

    void visit(const Let *op) override {
        const ScopedBinding<Expr> binding(lets, op->name, op->value);
        visit_and_count(op, Operation::Let);
    }

    void visit(const Call *op) override {
        IRVisitor::visit(op);
        switch (op->call_type) {
        case Call::Halide: {
            const bool self = op->name == function.name();
            record_access(op->args, op->type, self ? AccessType::LoadSelf : AccessType::LoadFunc, op->name);
            count(self ? Operation::SelfCall : Operation::FuncCall, op->type);
            break;
        }
        case Call::Image:
            record_access(op->args, op->type, AccessType::LoadImage, op->name);
            count(Operation::ImageCall, op->type);
            result.reads_image = true;
            break;
        case Call::Extern:
        case Call::PureExtern:
        case Call::Intrinsic:
        case Call::PureIntrinsic:
            count(Operation::ExternCall, op->type);
            break;
        case Call::ExternCPlusPlus:
            break;
        }
    }

    LoadJacobian jacobian_of(const std::vector<Expr> &indices) {
        LoadJacobian matrix;
        matrix.rows = static_cast<int>(indices.size());
        matrix.columns = indices.empty() ? 0 : static_cast<int>(loops.size());
        for (const Expr &index : indices) {
            for (const Loop &loop : loops) {
                matrix.entries.push_back(derivatives.of(index, loop.variable, lets));
            }
        }
        return matrix;
    }

    void record_access(const std::vector<Expr> &indices, const Halide::Type &type, AccessType access,
                       const std::string &name) {
        LoadJacobian matrix = jacobian_of(indices);
        const AccessClasses classes = classify_access(matrix, static_cast<int>(loops.size()));
        const int cell = num_scalar_types * static_cast<int>(access) + scalar_bucket(type);
        result.counts[pointwise_offset + cell] += classes.pointwise;
        result.counts[transpose_offset + cell] += classes.transpose;
        result.counts[broadcast_offset + cell] += classes.broadcast;
        result.counts[slice_offset + cell] += classes.slice;
        if (access == AccessType::LoadFunc) {
            merge_into(result.jacobians[name], std::move(matrix));
        }
    }

    // Section 8.6.
    static void merge_into(std::vector<LoadJacobian> &list, LoadJacobian matrix) {
        for (LoadJacobian &present : list) {
            if (present.rows == matrix.rows && present.columns == matrix.columns && present.entries == matrix.entries) {
                present.count += matrix.count;
                return;
            }
        }
        list.push_back(std::move(matrix));
    }

public:
    StageFeatures result;

    Featurizer(const Function &function, const std::vector<Loop> &loops) : function(function), loops(loops) {}

    void visit_definition(const Definition &definition) {
        std::vector<Expr> args;
        for (const Expr &arg : definition.args()) {
            args.push_back(canonical(arg));
        }
        for (const Expr &value : definition.values()) {
            record_access(args, value.type(), AccessType::Store, function.name());
            canonical(value).accept(this);
        }
        for (const Expr &arg : args) {
            arg.accept(this);
        }
    }

    static Expr canonical(const Expr &e) { return common_subexpression_elimination(simplify(e)); }
};

}  // namespace

StageFeatures featurize(const Function &function, int stage, const std::vector<Loop> &loops) {
    Featurizer featurizer(function, loops);
    featurizer.visit_definition(definition_of(function, stage));
    return std::move(featurizer.result);
}

}  // namespace halidegym
