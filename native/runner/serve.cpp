#include "runner/serve.h"

#include <HalideRuntime.h>
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iomanip>
#include <iostream>
#include <map>
#include <new>
#include <stdexcept>

#include "runner/arguments.h"
#include "runner/contention.h"
#include "runner/outputs.h"

namespace halidegym {
namespace {

// Exit statuses.
constexpr int failed = 3;
constexpr int out_of_memory = 4;

// Whether what a run frees stays with the process for the next one. By itself, glibc gives large blocks back to the
// system or not, depending on what the process has freed before; a run that fetches all of their pages anew may take
// several times as long, and so one schedule had two run times (docs/how-to/time-schedules.md).
void keep_freed_memory(bool keep) {
    if (keep) {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, -1);
    } else {
        constexpr int large = 128 << 10;  // bytes, where glibc begins
        mallopt(M_MMAP_THRESHOLD, large);
        mallopt(M_TRIM_THRESHOLD, large);
    }
}

// Leaves without running destructors: the kernel's threads may still be about.
[[noreturn]] void leave(int status) {
    std::fflush(nullptr);
    _exit(status);
}

[[noreturn]] void fail(const char *message) {
    std::fprintf(stderr, "%s\n", message);
    leave(std::strstr(message, "Out of memory") != nullptr ? out_of_memory : failed);
}

void on_halide_error(void *, const char *message) {
    fail(message);
}

void *open(const std::string &path, int flags) {
    void *library = dlopen(path.c_str(), RTLD_NOW | flags);
    if (!library) {
        throw std::runtime_error(dlerror());
    }
    return library;
}

template <typename Function>
Function symbol(void *library, const char *name) {
    void *address = dlsym(library, name);
    if (!address) {
        throw std::runtime_error(dlerror());
    }
    return reinterpret_cast<Function>(address);
}

Kernel load(const std::string &runtime_path, const std::string &kernel_path) {
    void *runtime = open(runtime_path, RTLD_GLOBAL);
    symbol<halide_error_handler_t (*)(halide_error_handler_t)>(runtime, "halide_set_error_handler")(on_halide_error);
    void *library = open(kernel_path, RTLD_LOCAL);
    Kernel kernel;
    kernel.run = symbol<int (*)(void **)>(library, "kernel_argv");
    kernel.metadata = symbol<const halide_filter_metadata_t *(*)()>(library, "kernel_metadata")();
    return kernel;
}

double seconds_of(const Kernel &kernel, Arguments &arguments, int64_t runs) {
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < runs; i++) {
        if (kernel.run(arguments.pointers()) != 0) {
            throw std::runtime_error("the pipeline returned an error");
        }
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The standard output that the runner was started with, for the answers alone: what a pipeline prints goes nowhere.
class Answers {
public:
    Answers() : file_(fdopen(dup(STDOUT_FILENO), "w")) {
        if (!file_ || !std::freopen("/dev/null", "w", stdout)) {
            throw std::runtime_error(std::string("cannot set up the answers: ") + std::strerror(errno));
        }
    }

    void write(const std::string &line) const {
        std::fprintf(file_, "%s\n", line.c_str());
        std::fflush(file_);
    }

private:
    std::FILE *file_;  // stays open to the end of the process
};

std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (const char c : text) {
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned char>(c));
        result += c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 ? std::string(code) : std::string(1, c);
    }
    return result + "\"";
}

// Minimum and extent of each dimension, and the name, of each buffer; as JSON, since names are anybody's.
std::string regions(const std::vector<std::pair<std::string, const halide_buffer_t *>> &buffers) {
    std::string text;
    for (const auto &[name, buffer] : buffers) {
        text += text.empty() ? "[" : ",[";
        text += quoted(name);
        for (int d = 0; d < buffer->dimensions; d++) {
            text += ",[" + std::to_string(buffer->dim[d].min) + "," + std::to_string(buffer->dim[d].extent) + "]";
        }
        text += "]";
    }
    return "[" + text + "]";
}

class Server {
public:
    Server(const Kernel &kernel, Arguments &arguments, const Answers &answers)
        : kernel_(kernel), arguments_(arguments), answers_(answers) {}

    // `words` are those that follow the command; a quoted one may have several lines, as names of folders may.
    void answer(const std::string &command, std::istream &words) {
        if (command == "sample") {
            sample(words);
        } else if (command == "check") {
            std::string directory;
            Tolerance tolerance;
            words >> std::quoted(directory) >> tolerance.relative >> tolerance.absolute >> tolerance.integer;
            answers_.write(compare_outputs(arguments_.outputs(), directory, tolerance));
        } else if (command == "write") {
            std::string directory;
            words >> std::quoted(directory);
            answers_.write("outputs " + write_outputs(arguments_.outputs(), directory));
        } else if (command == "inputs") {
            answers_.write("inputs " + regions(arguments_.inputs()));
        } else {
            throw std::runtime_error("unknown command: " + command);
        }
    }

private:
    void sample(std::istream &words) {
        int64_t runs = 1;
        size_t flush_bytes = 0;
        words >> runs >> flush_bytes;
        flush(flush_bytes);
        const double waited_before = seconds_waited();  // takes time of its own, to read files
        const double cpu_before = cpu_seconds();
        const double seconds = seconds_of(kernel_, arguments_, runs);
        const double worked = cpu_seconds() - cpu_before;
        const double waited = seconds_waited() - waited_before;
        char line[128];
        std::snprintf(line, sizeof line, "sample %.9g %.9g %.9g", seconds, worked, waited);
        answers_.write(line);
    }

    // Drives the pipeline's data out of the caches.
    void flush(size_t bytes) {
        constexpr size_t cache_line = 64;
        other_memory_.resize(bytes);
        for (size_t i = 0; i < bytes; i += cache_line) {
            other_memory_[i] = static_cast<char>(other_memory_[i] + 1);
        }
    }

    const Kernel &kernel_;
    Arguments &arguments_;
    const Answers &answers_;
    std::vector<char> other_memory_;
};

std::map<std::string, std::string> parse_files(const std::vector<std::string> &assignments) {
    std::map<std::string, std::string> files;
    for (const std::string &assignment : assignments) {
        const size_t equals = assignment.find('=');
        files[assignment.substr(0, equals)] = assignment.substr(equals + 1);
    }
    return files;
}

}  // namespace

void serve_kernel(const std::vector<std::string> &arguments) {
    keep_freed_memory(arguments[3] == "keep");
    try {
        const Answers answers;
        const Kernel kernel = load(arguments[0], arguments[1]);
        Arguments values(kernel, std::strtoull(arguments[2].c_str(), nullptr, 10),
                         parse_files({arguments.begin() + 4, arguments.end()}));
        // Warms up: starts the thread pool, touches all memory.
        char ready[64];
        std::snprintf(ready, sizeof ready, "ready %.9g", seconds_of(kernel, values, 1));
        answers.write(ready);
        Server server(kernel, values, answers);
        for (std::string command; std::cin >> command;) {
            server.answer(command, std::cin);
        }
    } catch (const std::bad_alloc &) {
        fail("Out of memory for the buffers of the pipeline");
    } catch (const std::exception &error) {
        fail(error.what());
    }
    leave(0);
}

}  // namespace halidegym
