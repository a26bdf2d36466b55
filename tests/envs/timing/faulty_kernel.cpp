// A compiled pipeline that goes wrong in the way that FAULT says: one output, 1000 integers, f(x) = 3 x.

#include <HalideRuntime.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

int64_t minimum = 0;
int64_t extent = 1000;
const int64_t *estimates[] = {&minimum, &extent};
const halide_filter_argument_t output = {
    "f",      halide_argument_kind_output_buffer, 1, {halide_type_int, 32, 1}, nullptr, nullptr, nullptr, nullptr,
    estimates};
const halide_filter_metadata_t metadata = {halide_filter_metadata_t::VERSION, 1, &output, "host", "kernel"};

int calls = 0;

}  // namespace

extern "C" const halide_filter_metadata_t *kernel_metadata() {
    return &metadata;
}

extern "C" int kernel_argv(void **arguments) {
    auto *buffer = static_cast<halide_buffer_t *>(arguments[0]);
    if (buffer->is_bounds_query()) {
        return 0;
    }
    calls++;
    for (int32_t x = 0; x < 1000; x++) {
        reinterpret_cast<int32_t *>(buffer->host)[x] = 3 * x;
    }
    volatile int *nowhere = nullptr;
    switch (FAULT) {
    case 1:  // crashes
        *nowhere = 1;
        break;
    case 2:  // never ends
        while (true) {
        }
    case 3:  // allocates without end
        while (true) {
            memset(new char[1 << 20], 1, 1 << 20);
        }
    case 4:  // returns wrong data
        reinterpret_cast<int32_t *>(buffer->host)[17]++;
        break;
    case 5:  // is killed from outside
        raise(SIGKILL);
        break;
    case 6:  // turns wrong after a while
        reinterpret_cast<int32_t *>(buffer->host)[17] += calls > 3 ? 1 : 0;
        break;
    case 7:  // ends the process
        std::exit(0);
    default:
        break;
    }
    return 0;
}
