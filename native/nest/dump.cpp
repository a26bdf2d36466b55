#include "nest/dump.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "problem/error.h"

namespace halidegym {
namespace {

constexpr std::string_view realize_mark = "realize: ";
constexpr std::string_view inlined_mark = "inlined: ";

PrintedLevel describe(const Problem &problem, const Level &level, const Level *parent) {
    PrintedLevel result;
    if (parent != nullptr) {
        const Stage &stage = problem.stages[level.stage];
        const Node &node = problem.node_of(stage);
        const auto loops = parent->regions->of(node.id).loops(stage.index);
        result.func = node.name;
        result.stage = stage.index;
        for (int i = 0; i < level.size.size(); i++) {
            result.sizes.push_back({level.size[i], loops[i].constant_extent});
        }
    }
    result.vectorized_loop = level.vectorized_loop;
    result.vector_dim = level.vector_dim;
    result.tileable = level.tileable;
    result.innermost = level.innermost;
    result.parallel = level.parallel && !level.innermost;
    for (const int node : level.store_at) {
        result.store_at.push_back(problem.nodes[node].name);
    }
    for (const LevelRef &child : level.children) {
        result.children.push_back(describe(problem, *child, &level));
    }
    for (const auto &[node, calls] : level.inlined) {
        result.inlined.emplace_back(problem.nodes[node].name, calls);
    }
    return result;
}

void print_body(const PrintedLevel &level, const std::string &indent, std::string &text);

void print_level(const PrintedLevel &level, const std::string &indent, std::string &text) {
    text += indent + level.func;
    for (size_t i = 0; i < level.sizes.size(); i++) {
        text += ' ' + std::to_string(level.sizes[i].count);
        text += level.innermost && static_cast<int>(i) == level.vectorized_loop ? "v" : "";
        text += level.sizes[i].constant ? "c" : "";
    }
    text += " (" + std::to_string(level.vectorized_loop) + ", " + std::to_string(level.vector_dim) + ")";
    text += level.tileable ? " t" : "";
    text += level.innermost ? " *\n" : level.parallel ? " p\n" : "\n";
    print_body(level, indent + ' ', text);
}

void print_body(const PrintedLevel &level, const std::string &indent, std::string &text) {
    for (const std::string &func : level.store_at) {
        text.append(indent).append(realize_mark).append(func) += '\n';
    }
    for (auto child = level.children.rbegin(); child != level.children.rend(); ++child) {
        print_level(*child, indent, text);
    }
    for (const auto &[func, calls] : level.inlined) {
        text.append(indent).append(inlined_mark).append(func) += ' ' + std::to_string(calls) + '\n';
    }
}

// Recursive descent over lines; the indentation of a line is its depth.
class Parser {
public:
    explicit Parser(std::string_view text) {
        if (text.starts_with('\n')) {
            text.remove_prefix(1);
            first_line_ = 2;
        }
        if (!text.empty() && !text.ends_with('\n')) {
            text_ends_early_ = true;
        }
        while (!text.empty()) {
            const size_t end = std::min(text.find('\n'), text.size());
            lines_.push_back(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
    }

    PrintedLevel parse() {
        PrintedLevel root;
        parse_body(root, 0);
        if (next_ < lines_.size()) {
            fail("indentation that no enclosing loop level explains, or a line out of order");
        }
        if (text_ends_early_) {
            next_ = lines_.size() - 1;
            fail("no newline at the end");
        }
        return root;
    }

private:
    [[noreturn]] void fail(const std::string &reason) const {
        throw FormatError(
            "loop nest, line " + std::to_string(next_ + first_line_) + ": " + reason +
            "; expected the text of a loop nest as Schedule.loop_nest() and the autoscheduler's log show it");
    }

    // The next line without its indentation, if it is at this depth.
    std::optional<std::string_view> line_at(size_t depth) const {
        if (next_ == lines_.size()) {
            return std::nullopt;
        }
        const std::string_view line = lines_[next_];
        const size_t indent = std::min(line.find_first_not_of(' '), line.size());
        return indent == depth ? std::optional(line.substr(indent)) : std::nullopt;
    }

    void parse_body(PrintedLevel &level, size_t depth) {
        std::optional<std::string_view> line = line_at(depth);
        for (; line && line->starts_with(realize_mark); line = line_at(depth)) {
            level.store_at.emplace_back(name(line->substr(realize_mark.size())));
            next_++;
        }
        std::map<std::string, int, std::less<>> stages;  // seen so far, by Func
        for (; line && !line->starts_with(inlined_mark); line = line_at(depth)) {
            PrintedLevel child = parse_level(*line);
            child.stage = child.func == level.func ? level.stage : stages[child.func]++;
            next_++;
            parse_body(child, depth + 1);
            level.children.push_back(std::move(child));
        }
        std::reverse(level.children.begin(), level.children.end());
        for (; line && line->starts_with(inlined_mark); line = line_at(depth)) {
            const std::string_view entry = line->substr(inlined_mark.size());
            const size_t space = std::min(entry.find(' '), entry.size());
            std::string_view rest = entry.substr(space);
            expect(rest, " ");
            level.inlined.emplace_back(name(entry.substr(0, space)), number(rest));
            if (!rest.empty()) {
                fail("text after the number of calls");
            }
            next_++;
        }
    }

    PrintedLevel parse_level(std::string_view line) const {
        PrintedLevel level;
        const size_t space = std::min(line.find(' '), line.size());
        level.func = name(line.substr(0, space));
        std::string_view rest = line.substr(space);
        std::vector<bool> vectorized;
        while (!rest.starts_with(" (")) {
            expect(rest, " ");
            PrintedLevel::Size size{.count = number(rest)};
            vectorized.push_back(skip(rest, "v"));
            size.constant = skip(rest, "c");
            level.sizes.push_back(size);
        }
        expect(rest, " (");
        level.vectorized_loop = static_cast<int>(number(rest));
        expect(rest, ", ");
        level.vector_dim = static_cast<int>(number(rest));
        expect(rest, ")");
        level.tileable = skip(rest, " t");
        level.innermost = skip(rest, " *");
        level.parallel = !level.innermost && skip(rest, " p");
        if (!rest.empty()) {
            fail("'" + std::string(rest) + "' after the flags");
        }
        for (size_t i = 0; i < vectorized.size(); i++) {
            if (vectorized[i] != (level.innermost && static_cast<int>(i) == level.vectorized_loop)) {
                fail("the mark 'v' contradicts the vectorized loop or the mark '*'");
            }
        }
        return level;
    }

    std::string name(std::string_view text) const {
        if (text.empty() || text.find(' ') != std::string_view::npos) {
            fail("'" + std::string(text) + "' is no name of a Func");
        }
        return std::string(text);
    }

    int64_t number(std::string_view &text) const {
        int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const auto length = static_cast<size_t>(end - text.data());
        if (error != std::errc{} || std::to_string(value) != text.substr(0, length)) {
            fail("no number at '" + std::string(text) + "'");
        }
        text.remove_prefix(length);
        return value;
    }

    static bool skip(std::string_view &text, std::string_view prefix) {
        if (!text.starts_with(prefix)) {
            return false;
        }
        text.remove_prefix(prefix.size());
        return true;
    }

    void expect(std::string_view &text, std::string_view prefix) const {
        if (!skip(text, prefix)) {
            fail("no '" + std::string(prefix) + "' at '" + std::string(text) + "'");
        }
    }

    std::vector<std::string_view> lines_;
    size_t first_line_ = 1;
    size_t next_ = 0;
    bool text_ends_early_ = false;
};

}  // namespace

PrintedLevel describe(const Problem &problem, const Level &root) {
    return describe(problem, root, nullptr);
}

std::string dump(const PrintedLevel &level) {
    std::string text;
    if (level.func.empty()) {
        text = "\n";
        print_body(level, "", text);
    } else {
        print_level(level, "", text);
    }
    return text;
}

std::string dump(const Problem &problem, const Level &root) {
    return dump(describe(problem, root));
}

PrintedLevel parse_nest(std::string_view text) {
    return Parser(text).parse();
}

}  // namespace halidegym
