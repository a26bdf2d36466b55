#include "nest/schedule_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iomanip>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "nest/loop_names.h"
#include "nest/reserved_words.h"

namespace halidegym {
namespace {

using Kind = Directive::Kind;
using Names = std::vector<LoopNames>;  // by stage

std::string join(const std::vector<std::string> &items) {
    std::string result;
    for (const std::string &item : items) {
        result += (result.empty() ? "" : ", ") + item;
    }
    return result;
}

// A loop of one of the scheduled stages.
struct StageLoop {
    int stage = 0;
    LoopVariable variable;
};

// All that the scheduled stages have, Vars and RVars apart, by name; of several with one name the first.
struct Declarations {
    std::map<std::string, StageLoop> vars;
    std::map<std::string, StageLoop> rvars;
};

Declarations declarations(const Problem &problem, std::span<const StageDirectives> stages, const Names &names) {
    Declarations result;
    for (const StageDirectives &scheduled : stages) {
        const Stage &stage = problem.stages[scheduled.stage];
        for (const LoopVariable &variable : scheduled.loops) {
            (stage.loops[variable.loop].rvar ? result.rvars : result.vars)
                .emplace(names[stage.id](variable), StageLoop{stage.id, variable});
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

class PluginSpelling final : public Spelling {
public:
    explicit PluginSpelling(const Names &names) : names_(names) {}

    std::string func(const Node &node) const override { return node.name; }
    std::string loop(const Stage &stage, const LoopVariable &variable) const override {
        return names_[stage.id](variable);
    }
    std::string argument(const Node &node, int dimension) const override { return node.args[dimension]; }
    std::string outermost() const override { return "__outermost"; }
    std::string constant(std::string_view type, std::string_view name) const override {
        return std::string(type) + "::" + std::string(name);
    }
    std::string list(const std::string &items) const override { return "{" + items + "}"; }

private:
    const Names &names_;
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

// A language in which every Func and every loop is a variable.
class Language : public Spelling {
public:
    Language(const Names &names, const Words &reserved) : names_(names), taken_(reserved) {
        taken_.insert("pipeline");  // which the statements are about
    }

    std::string func(const Node &node) const override { return identifier("Func", node.name); }
    std::string loop(const Stage &stage, const LoopVariable &variable) const override {
        return identifier(stage.loops[variable.loop].rvar ? "RVar" : "Var", names_[stage.id](variable));
    }
    std::string argument(const Node &node, int dimension) const override {
        return identifier("Var", node.args[dimension]);
    }

    // Statements: a variable with its value, which is of a type of Halide, and calls on a stage.
    virtual std::string declaration(const std::string &type, const std::string &identifier,
                                    const std::string &value) const = 0;
    virtual std::string made(const std::string &type, const std::string &name) const = 0;
    virtual std::string statement(const std::string &stage, const std::vector<std::string> &calls) const = 0;

    // The identifier of a thing from now on; things of distinct kinds may have the same name.
    std::string declare(const std::string &kind, const std::string &name) {
        const auto known = identifiers_.find({kind, name});
        if (known != identifiers_.end()) {
            return known->second;
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
        return identifiers_[{kind, name}] = identifier;
    }

private:
    std::string identifier(const std::string &kind, const std::string &name) const {
        return identifiers_.at({kind, name});
    }

    const Names &names_;
    std::map<std::pair<std::string, std::string>, std::string> identifiers_;
    Words taken_;
};

std::string quoted(const std::string &text) {
    return '"' + text + '"';
}

// As a string literal of Python and C++, whatever is in the text; three octal digits end an escape in both.
std::string literal(const std::string &text) {
    std::ostringstream escaped;
    escaped << std::oct << std::setfill('0');
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            escaped << '\\' << c;
        } else if (code < 0x20 || code == 0x7f) {
            escaped << '\\' << std::setw(3) << static_cast<unsigned>(code);
        } else {
            escaped << c;
        }
    }
    return quoted(escaped.str());
}

class Python final : public Language {
public:
    explicit Python(const Names &names) : Language(names, reserved_in_python()) {}

    std::string outermost() const override { return "hl.Var.outermost()"; }
    std::string constant(std::string_view type, std::string_view name) const override {
        return "hl." + std::string(type) + "." + std::string(name);
    }
    std::string list(const std::string &items) const override { return items; }

    std::string declaration(const std::string &, const std::string &identifier,
                            const std::string &value) const override {
        return identifier + " = " + value + "\n";
    }
    std::string made(const std::string &type, const std::string &name) const override {
        return "hl." + type + "(" + literal(name) + ")";
    }
    std::string statement(const std::string &stage, const std::vector<std::string> &calls) const override {
        std::string text = "\n(\n    " + stage;
        for (const std::string &call : calls) {
            text += "\n    " + call;
        }
        return text + "\n)\n";
    }
};

class Cpp final : public Language {
public:
    explicit Cpp(const Names &names) : Language(names, reserved_in_cpp()) {}

    std::string outermost() const override { return "Var::outermost()"; }
    std::string constant(std::string_view type, std::string_view name) const override {
        return std::string(type) + "::" + std::string(name);
    }
    std::string list(const std::string &items) const override { return "{" + items + "}"; }

    std::string declaration(const std::string &type, const std::string &identifier,
                            const std::string &value) const override {
        return type + " " + identifier + " = " + value + ";\n";
    }
    std::string made(const std::string &type, const std::string &name) const override {
        return type + "(" + literal(name) + ")";
    }
    std::string statement(const std::string &stage, const std::vector<std::string> &calls) const override {
        std::string text = "\n" + stage;
        for (const std::string &call : calls) {
            text += "\n    " + call;
        }
        return text + ";\n";
    }
};

// Position of a Func among those of the pipeline, which lists producers first.
int pipeline_index(const Problem &problem, const Node &node) {
    return problem.num_nodes() - 1 - node.id;
}

// A loop as a member of its Func, whatever it is called there; the inner half of a split is made from its name.
std::string loop_value(const Problem &problem, const StageLoop &found, const std::string &type, const std::string &name,
                       const Language &language) {
    if (found.variable.splits > 0) {
        return language.made(type, name);
    }
    const Stage &stage = problem.stages[found.stage];
    const Loop &loop = stage.loops[found.variable.loop];
    const std::string func = language.func(problem.node_of(stage));
    if (!loop.rvar) {
        return func + ".args()[" + std::to_string(loop.pure_dim) + "]";
    }
    const auto index = std::count_if(stage.loops.begin(), stage.loops.begin() + found.variable.loop,
                                     [](const Loop &before) { return before.rvar; });
    return func + ".rvars(" + std::to_string(stage.index - 1) + ")[" + std::to_string(index) + "]";
}

// Declarations of all that is scheduled, and then the calls.
std::string statements(const Problem &problem, std::span<const StageDirectives> stages, const Names &names,
                       Language &language) {
    std::string text;
    const auto declare = [&](const std::string &type, const std::string &name, const std::string &value) {
        text += language.declaration(type, language.declare(type, name), value);
    };
    std::set<int> nodes;
    for (const StageDirectives &scheduled : stages) {
        nodes.insert(problem.stages[scheduled.stage].node);
    }
    for (const int node : nodes) {
        declare("Func", problem.nodes[node].name,
                "pipeline.get_func(" + std::to_string(pipeline_index(problem, problem.nodes[node])) + ")");
    }
    const Declarations declared = declarations(problem, stages, names);
    std::map<std::string, std::string> vars;
    for (const auto &[name, loop] : declared.vars) {
        vars[name] = loop_value(problem, loop, "Var", name, language);
    }
    // A pure argument may be named in a storage order without being a loop any more.
    for (const StageDirectives &scheduled : stages) {
        const Node &node = problem.node_of(problem.stages[scheduled.stage]);
        for (const Directive &directive : scheduled.directives) {
            for (const int dimension : directive.dimensions) {
                vars.emplace(node.args[dimension], language.func(node) + ".args()[" + std::to_string(dimension) + "]");
            }
        }
    }
    for (const auto &[name, value] : vars) {
        declare("Var", name, value);
    }
    for (const auto &[name, loop] : declared.rvars) {
        declare("RVar", name, loop_value(problem, loop, "RVar", name, language));
    }
    for (const StageDirectives &scheduled : stages) {
        const Stage &stage = problem.stages[scheduled.stage];
        if (scheduled.directives.empty()) {
            continue;
        }
        std::vector<std::string> calls;
        for (const Directive &directive : scheduled.directives) {
            calls.push_back(call(problem, stage, directive, language));
        }
        const std::string update = stage.index == 0 ? "" : ".update(" + std::to_string(stage.index - 1) + ")";
        text += language.statement(language.func(problem.node_of(stage)) + update, calls);
    }
    return text;
}

}  // namespace

std::string schedule_source(const Problem &problem, std::span<const StageDirectives> stages) {
    const Names names = loop_names(problem, stages);
    const PluginSpelling spelling(names);
    std::string text;
    for (const Node &node : problem.nodes) {
        if (!node.is_input) {
            text +=
                "Func " + node.name + " = pipeline.get_func(" + std::to_string(pipeline_index(problem, node)) + ");\n";
        }
    }
    const Declarations declared = declarations(problem, stages, names);
    for (const auto &[type, variables] : {std::pair("Var ", &declared.vars), std::pair("RVar ", &declared.rvars)}) {
        for (const auto &[name, loop] : *variables) {
            const std::string &accessor = problem.stages[loop.stage].loops[loop.variable.loop].accessor;
            text += type + name + "(" + (loop.variable.splits > 0 ? quoted(name) : accessor) + ");\n";
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

std::string cpp_statements(const Problem &problem, std::span<const StageDirectives> stages) {
    const Names names = loop_names(problem, stages);
    Cpp language(names);
    return statements(problem, stages, names, language);
}

std::string python_source(const Problem &problem, std::span<const StageDirectives> stages) {
    const Names names = loop_names(problem, stages);
    Python language(names);
    return "import halide as hl\n\n" + statements(problem, stages, names, language);
}

}  // namespace halidegym
