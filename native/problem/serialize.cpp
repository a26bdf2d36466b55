#include "problem/serialize.h"

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "problem/error.h"
#include "problem/validate.h"

namespace halidegym {

namespace {

constexpr std::string_view magic = "HLGYMPRB";
constexpr size_t header_size = magic.size() + 4 + 8 + 8;

[[noreturn]] void throw_unreadable(const std::string &reason) {
    throw FormatError("this is no readable problem: " + reason +
                      "; save the problem again with this version of halidegym");
}

// An archive takes the fields of an object one by one: a Writer appends each to its bytes, a Reader replaces each.
class Writer {
public:
    template <typename... Fields>
    void operator()(const Fields &...fields) {
        (put(fields), ...);
    }
    std::string take() { return std::move(bytes_); }

private:
    template <std::integral T>
    void put(T value) {
        auto rest = static_cast<uint64_t>(value);
        for (size_t i = 0; i < sizeof(T); ++i) {
            bytes_.push_back(static_cast<char>(rest & 0xff));
            rest >>= 8;
        }
    }
    template <typename T>
        requires std::is_enum_v<T>
    void put(T value) {
        put(static_cast<std::underlying_type_t<T>>(value));
    }
    void put(const std::string &value) {
        put(static_cast<uint32_t>(value.size()));
        bytes_ += value;
    }
    template <typename T>
    void put(const std::vector<T> &values) {
        put(static_cast<uint32_t>(values.size()));
        for (const T &value : values) {
            put(value);
        }
    }
    template <typename T, size_t N>
    void put(const std::array<T, N> &values) {
        for (const T &value : values) {
            put(value);
        }
    }
    void put(const Expression &value) {
        if (value.is_portable()) {
            put(std::vector<Instruction>(value.code().begin(), value.code().end()));
        } else {
            put(value.text());
        }
    }
    template <typename T>
        requires std::is_class_v<T>
    void put(const T &value) {
        fields(*this, value);
    }

    std::string bytes_;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}
    template <typename... Fields>
    void operator()(Fields &...fields) {
        (get(fields), ...);
    }
    bool at_end() const { return rest_.empty(); }

private:
    std::string_view take(size_t size) {
        if (size > rest_.size()) {
            throw_unreadable("its data ends early");
        }
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    template <std::integral T>
    void get(T &value) {
        uint64_t bits = 0;
        const std::string_view taken = take(sizeof(T));
        for (size_t i = 0; i < sizeof(T); ++i) {
            bits |= static_cast<uint64_t>(static_cast<unsigned char>(taken[i])) << (8 * i);
        }
        value = static_cast<T>(bits);
    }
    void get(bool &value) {
        uint8_t byte = 0;
        get(byte);
        if (byte > 1) {
            throw_unreadable("it has a flag that is neither 0 nor 1");
        }
        value = byte == 1;
    }
    // Ranges of enumerations are checked with the rest of the problem.
    template <typename T>
        requires std::is_enum_v<T>
    void get(T &value) {
        std::underlying_type_t<T> number{};
        get(number);
        value = static_cast<T>(number);
    }
    void get(std::string &value) { value = take(get_size()); }
    template <typename T>
    void get(std::vector<T> &values) {
        const size_t size = get_size();
        values.clear();
        for (size_t i = 0; i < size; ++i) {
            get(values.emplace_back());
        }
    }
    void get(std::vector<Expression> &values) {
        const size_t size = get_size();
        values.clear();
        for (size_t i = 0; i < size; ++i) {
            std::vector<Instruction> code;
            get(code);
            values.emplace_back(std::move(code));
        }
    }
    template <typename T, size_t N>
    void get(std::array<T, N> &values) {
        for (T &value : values) {
            get(value);
        }
    }
    template <typename T>
        requires std::is_class_v<T>
    void get(T &value) {
        fields(*this, value);
    }
    // No element takes less than a byte, so a corrupt size cannot make us reserve more than the input's length.
    size_t get_size() {
        uint32_t size = 0;
        get(size);
        if (size > rest_.size()) {
            throw_unreadable("its data ends early");
        }
        return size;
    }

    std::string_view rest_;
};

// The fields of each type, in the order of the file. `T` is const for a Writer.
template <typename T, typename Object>
concept ObjectOf = std::same_as<std::remove_const_t<T>, Object>;

void fields(auto &archive, ObjectOf<ScalarType> auto &type) {
    archive(type.kind, type.bits);
}

void fields(auto &archive, ObjectOf<Instruction> auto &instruction) {
    archive(instruction.opcode, instruction.type, instruction.operand_type, instruction.operands,
            instruction.immediate);
}

void fields(auto &archive, ObjectOf<Span> auto &span) {
    archive(span.min, span.max, span.constant_extent);
}

void fields(auto &archive, ObjectOf<Rational> auto &rational) {
    archive(rational.known, rational.numerator, rational.denominator);
}

void fields(auto &archive, ObjectOf<EdgeBound> auto &bound) {
    archive(bound.kind, bound.depends_on_parameter, bound.of_max, bound.loop, bound.coefficient, bound.constant,
            bound.expression);
}

void fields(auto &archive, ObjectOf<LoadJacobian> auto &jacobian) {
    archive(jacobian.rows, jacobian.columns, jacobian.entries, jacobian.count);
}

void fields(auto &archive, ObjectOf<Edge> auto &edge) {
    archive(edge.id, edge.producer, edge.consumer_stage, edge.calls, edge.bounds, edge.jacobians);
}

void fields(auto &archive, ObjectOf<Loop> auto &loop) {
    archive(loop.variable, loop.accessor, loop.pure, loop.rvar, loop.pure_dim, loop.kind, loop.computed_dim,
            loop.constant_min, loop.constant_max, loop.expression_min, loop.expression_max);
}

void fields(auto &archive, ObjectOf<Stage> auto &stage) {
    archive(stage.id, stage.node, stage.index, stage.name, stage.vector_size, stage.loops, stage.reads_image,
            stage.features);
}

void fields(auto &archive, ObjectOf<ComputedDimension> auto &dimension) {
    archive(dimension.kind, dimension.constant_min, dimension.constant_max, dimension.expression_min,
            dimension.expression_max);
}

void fields(auto &archive, ObjectOf<Node> auto &node) {
    archive(node.id, node.name, node.dimensions, node.args, node.bytes_per_point, node.vector_size, node.is_wrapper,
            node.is_input, node.is_output, node.is_pointwise, node.is_boundary_condition, node.is_extern,
            node.first_stage, node.num_stages, node.region_computed, node.estimated_region,
            node.unit_stride_dimensions);
}

void fields(auto &archive, ObjectOf<Problem> auto &problem) {
    archive(problem.name, problem.halide_version, problem.target, problem.parallelism, problem.nodes, problem.stages,
            problem.edges, problem.expressions);
}

uint64_t fnv1a(std::string_view bytes) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char byte : bytes) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
    return hash;
}

std::string payload_of(const Problem &problem) {
    Writer writer;
    fields(writer, problem);
    return writer.take();
}

}  // namespace

std::string to_bytes(const Problem &problem) {
    if (!problem.is_portable()) {
        throw UnsupportedPipeline("the problem '" + problem.name +
                                  "' cannot be stored: a bounds expression of it can only be evaluated by Halide; keep "
                                  "the pipeline and extract the problem again instead");
    }
    const std::string payload = payload_of(problem);
    Writer header;
    header(static_cast<uint32_t>(problem_format_version), static_cast<uint64_t>(payload.size()), fnv1a(payload));
    return std::string(magic) + header.take() + payload;
}

Problem from_bytes(std::string_view bytes) {
    if (bytes.substr(0, magic.size()) != magic) {
        throw_unreadable("it does not start with the magic '" + std::string(magic) + "'");
    }
    if (bytes.size() < header_size) {
        throw_unreadable("its header is truncated");
    }
    uint32_t version = 0;
    uint64_t size = 0;
    uint64_t checksum = 0;
    Reader(bytes.substr(magic.size(), header_size))(version, size, checksum);
    if (version != problem_format_version) {
        throw_unreadable("its format is version " + std::to_string(version) + ", not " +
                         std::to_string(problem_format_version));
    }
    const std::string_view payload = bytes.substr(header_size);
    if (payload.size() != size) {
        throw_unreadable("it has " + std::to_string(payload.size()) + " bytes of data instead of " +
                         std::to_string(size));
    }
    if (fnv1a(payload) != checksum) {
        throw_unreadable("its data is corrupt (wrong checksum)");
    }
    Problem problem;
    try {
        Reader reader(payload);
        fields(reader, problem);
        if (!reader.at_end()) {
            throw_unreadable("it has data left over");
        }
        validate(problem);
    } catch (const InvalidParameter &error) {
        throw_unreadable(error.what());
    }
    problem.derive();
    return problem;
}

std::string identity_bytes(const Problem &problem) {
    Problem anonymous = problem;
    anonymous.name.clear();
    anonymous.halide_version.clear();
    for (Node &node : anonymous.nodes) {
        node.name.clear();
        node.args.assign(node.args.size(), "");
    }
    for (Stage &stage : anonymous.stages) {
        stage.name.clear();
        for (Loop &loop : stage.loops) {
            loop.variable.clear();
            loop.accessor.clear();
        }
    }
    return payload_of(anonymous);
}

}  // namespace halidegym
