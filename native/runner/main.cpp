// Two programs in one. `confine` starts any program within limits; `kernel` runs one compiled schedule and tells how
// long it takes. A program of its own, so that a schedule which crashes or hangs takes nothing with it.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>

#include "runner/confine.h"
#include "runner/serve.h"

namespace halidegym {
namespace {

constexpr char usage[] = R"(usage: halidegym_runner confine PARENT_PID ADDRESS_SPACE_BYTES CPU,... COMMAND...
       halidegym_runner kernel RUNTIME.so KERNEL.so SEED keep|return [INPUT=FILE]...
)";

Limits parse_limits(char **arguments) {
    Limits limits;
    limits.parent = std::atoi(arguments[0]);
    limits.address_space = std::strtoull(arguments[1], nullptr, 10);
    std::istringstream cpus(arguments[2]);
    for (std::string cpu; std::getline(cpus, cpu, ',');) {
        if (!cpu.empty()) {  // a comma alone stands for all
            limits.cpus.push_back(std::atoi(cpu.c_str()));
        }
    }
    return limits;
}

int main(int argc, char **argv) {
    try {
        if (argc >= 6 && std::strcmp(argv[1], "confine") == 0) {
            run_confined(parse_limits(argv + 2), argv + 5);
        } else if (argc >= 6 && std::strcmp(argv[1], "kernel") == 0) {
            serve_kernel({argv + 2, argv + argc});
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    std::fputs(usage, stderr);
    return 2;
}

}  // namespace
}  // namespace halidegym

int main(int argc, char **argv) {
    return halidegym::main(argc, argv);
}
