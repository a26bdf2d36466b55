#include "nest/schedule_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace halidegym {
namespace {

using Kind = Directive::Kind;

std::string join(const std::vector<std::string> &items) {
    std::string result;
    for (const std::string &item : items) {
        result += (result.empty() ? "" : ", ") + item;
    }
    return result;
}

// All loops that the scheduled stages have, Vars and RVars apart, by name; of several with one name the first.
struct Declarations {
    std::map<std::string, std::string> vars;  // name to accessor, which is empty for a loop that a split made
    std::map<std::string, std::string> rvars;
};

Declarations declarations(const Problem &problem, std::span<const StageDirectives> stages) {
    Declarations result;
    for (const StageDirectives &scheduled : stages) {
        const Stage &stage = problem.stages[scheduled.stage];
        for (const LoopVariable &variable : scheduled.loops) {
            const Loop &loop = stage.loops[variable.loop];
            (loop.rvar ? result.rvars : result.vars)
                .emplace(loop_name(stage, variable), variable.splits == 0 ? loop.accessor : std::string());
        }
    }
    return result;
}

// Names as the calls of one language spell them.
struct Spelling {
    virtual ~Spelling() = default;
    virtual std::string func(const Node &node) const = 0;
    virtual std::string loop(const Stage &stage, const LoopVariable &variable) const = 0;
    virtual std::string argument(const Node &node, int dimension) const = 0;
    virtual std::string outermost() const = 0;
    virtual std::string constant(std::string_view type, std::string_view name) const = 0;
    virtual std::string list(const std::string &items) const = 0;
};

// One call, from its dot to its closing parenthesis.
std::string call(const Problem &problem, const Stage &stage, const Directive &directive, const Spelling &spelling) {
    std::vector<std::string> loops;
    for (const LoopVariable &variable : directive.loops) {
        loops.push_back(spelling.loop(stage, variable));
    }
    const auto place = [&](const std::string &what) {
        const LoopPosition &position = directive.position;
        if (position.is_root()) {
            return "." + what + "_root()";
        }
        const Stage &host = problem.stages[position.stage];
        return "." + what + "_at(" + spelling.func(problem.node_of(host)) + ", " +
               (position.variable ? spelling.loop(host, *position.variable) : spelling.outermost()) + ")";
    };
    switch (directive.kind) {
    case Kind::StoreInStack:
        return ".store_in(" + spelling.constant("MemoryType", "Stack") + ")";
    case Kind::Split:
        return ".split(" + loops[0] + ", " + loops[0] + ", " + loops[1] + ", " + std::to_string(directive.factor) +
               ", " + spelling.constant("TailStrategy", tail_strategy_name(directive.tail)) + ")";
    case Kind::Unroll:
        return ".unroll(" + loops[0] + ")";
    case Kind::Vectorize:
        return ".vectorize(" + loops[0] + ")";
    case Kind::ComputeAt:
        return place("compute");
    case Kind::StoreAt:
        return place("store");
    case Kind::Reorder:
        return ".reorder(" + spelling.list(join(loops)) + ")";
    case Kind::Fuse:
        return ".fuse(" + loops[0] + ", " + loops[1] + ", " + loops[0] + ")";
    case Kind::Parallel:
        return ".parallel(" + loops[0] + ")";
    case Kind::ReorderStorage:
        break;
    }
    std::vector<std::string> arguments;
    for (const int dimension : directive.dimensions) {
        arguments.push_back(spelling.argument(problem.node_of(stage), dimension));
    }
    return ".reorder_storage(" + join(arguments) + ")";
}

struct CppSpelling final : Spelling {
    std::string func(const Node &node) const override { return node.name; }
    std::string loop(const Stage &stage, const LoopVariable &variable) const override {
        return loop_name(stage, variable);
    }
    std::string argument(const Node &node, int dimension) const override { return node.args[dimension]; }
    std::string outermost() const override { return "__outermost"; }
    std::string constant(std::string_view type, std::string_view name) const override {
        return std::string(type) + "::" + std::string(name);
    }
    std::string list(const std::string &items) const override { return "{" + items + "}"; }
};

// Halide's unique names contain dollars, which C++ identifiers do not.
std::string replace_dollars_outside_quotes(std::string text) {
    bool quoted = false;
    for (char &c : text) {
        quoted = quoted != (c == '"');
        if (c == '$' && !quoted) {
            c = '_';
        }
    }
    return text;
}

// Gives every Func and every loop an identifier of its own.
class PythonSpelling final : public Spelling {
public:
    std::string func(const Node &node) const override { return identifier("Func", node.name); }
    std::string loop(const Stage &stage, const LoopVariable &variable) const override {
        return identifier(stage.loops[variable.loop].rvar ? "RVar" : "Var", loop_name(stage, variable));
    }
    std::string argument(const Node &node, int dimension) const override {
        return identifier("Var", node.args[dimension]);
    }
    std::string outermost() const override { return "hl.Var.outermost()"; }
    std::string constant(std::string_view type, std::string_view name) const override {
        return "hl." + std::string(type) + "." + std::string(name);
    }
    std::string list(const std::string &items) const override { return items; }

    std::string identifier(const std::string &kind, const std::string &name) const {
        return identifiers_.at({kind, name});
    }

    void declare(const std::string &kind, const std::string &name) {
        if (identifiers_.contains({kind, name})) {
            return;
        }
        std::string identifier;
        for (const char c : name) {
            identifier += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
        }
        if (identifier.empty() || std::isdigit(static_cast<unsigned char>(identifier[0]))) {
            identifier.insert(0, "_");
        }
        while (!taken_.insert(identifier).second) {
            identifier += "_";
        }
        identifiers_[{kind, name}] = identifier;
    }

private:
    std::map<std::pair<std::string, std::string>, std::string> identifiers_;
    std::set<std::string> taken_ = {
        "False",    "None",   "True",  "and",  "as",     "assert",   "async",   "await", "break", "class",
        "continue", "def",    "del",   "elif", "else",   "except",   "finally", "for",   "from",  "global",
        "if",       "import", "in",    "is",   "lambda", "nonlocal", "not",     "or",    "pass",  "raise",
        "return",   "try",    "while", "with", "yield",  "hl",       "pipeline"};
};

// Position of a Func among those of the pipeline, which lists producers first.
int pipeline_index(const Problem &problem, const Node &node) {
    return problem.num_nodes() - 1 - node.id;
}

}  // namespace

std::string schedule_source(const Problem &problem, std::span<const StageDirectives> stages) {
    const CppSpelling spelling;
    std::string text;
    for (const Node &node : problem.nodes) {
        if (!node.is_input) {
            text +=
                "Func " + node.name + " = pipeline.get_func(" + std::to_string(pipeline_index(problem, node)) + ");\n";
        }
    }
    const Declarations declared = declarations(problem, stages);
    for (const auto &[type, variables] : {std::pair("Var ", &declared.vars), std::pair("RVar ", &declared.rvars)}) {
        for (const auto &[name, accessor] : *variables) {
            text += type + name + "(" + (accessor.empty() ? '"' + name + '"' : accessor) + ");\n";
        }
    }
    for (const StageDirectives &scheduled : stages) {
        const Stage &stage = problem.stages[scheduled.stage];
        text += stage.name;
        for (const Directive &directive : scheduled.directives) {
            text += "\n    " + call(problem, stage, directive, spelling);
        }
        text += ";\n";
    }
    return replace_dollars_outside_quotes(std::move(text));
}

std::string python_source(const Problem &problem, std::span<const StageDirectives> stages) {
    PythonSpelling spelling;
    std::string text = "import halide as hl\n\n";
    for (const StageDirectives &scheduled : stages) {
        spelling.declare("Func", problem.node_of(problem.stages[scheduled.stage]).name);
    }
    for (const Node &node : problem.nodes) {
        const bool is_scheduled = std::any_of(stages.begin(), stages.end(), [&](const StageDirectives &scheduled) {
            return problem.stages[scheduled.stage].node == node.id;
        });
        if (is_scheduled) {
            text +=
                spelling.func(node) + " = pipeline.get_func(" + std::to_string(pipeline_index(problem, node)) + ")\n";
        }
    }
    const auto declare = [&](const std::string &type, const std::string &name) {
        spelling.declare(type, name);
        text += spelling.identifier(type, name) + " = hl." + type + "(\"" + name + "\")\n";
    };
    // A pure argument may be named in a storage order without being a loop any more.
    Declarations declared = declarations(problem, stages);
    for (const StageDirectives &scheduled : stages) {
        const Stage &stage = problem.stages[scheduled.stage];
        for (const Directive &directive : scheduled.directives) {
            for (const int dimension : directive.dimensions) {
                declared.vars.emplace(problem.node_of(stage).args[dimension], "");
            }
        }
    }
    for (const auto &[name, accessor] : declared.vars) {
        declare("Var", name);
    }
    for (const auto &[name, accessor] : declared.rvars) {
        declare("RVar", name);
    }
    for (const StageDirectives &scheduled : stages) {
        const Stage &stage = problem.stages[scheduled.stage];
        if (scheduled.directives.empty()) {
            continue;
        }
        text += "\n(\n    " + spelling.func(problem.node_of(stage));
        if (stage.index > 0) {
            text += ".update(" + std::to_string(stage.index - 1) + ")";
        }
        for (const Directive &directive : scheduled.directives) {
            text += "\n    " + call(problem, stage, directive, spelling);
        }
        text += "\n)\n";
    }
    return text;
}

}  // namespace halidegym
