// Preloaded into a process that runs the Adams2019 plugin, this records everything the plugin asks its cost model
// (docs/specification/search-and-cost-model.md, section 5.5). The plugin calls `cost_model` through its symbol table,
// so it finds this definition first.
//
// HALIDEGYM_TRACE names the file to write, HALIDEGYM_PLUGIN the plugin's library. The file is a sequence of batches:
// int32 S, B, P; float32 pipeline features [S][7][40], schedule features [B][S][39], costs [B].

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "HalideRuntime.h"

namespace {

using Buffer = halide_buffer_t *;
using CostModel = int(int32_t, int32_t, int32_t, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, float,
                      int32_t, int32_t, Buffer, Buffer, Buffer);

[[noreturn]] void fail(const char *message) {
    std::fprintf(stderr, "interpose: %s\n", message);
    std::exit(1);
}

const char *variable(const char *name) {
    const char *value = std::getenv(name);
    if (!value) {
        fail((std::string("the environment lacks ") + name).c_str());
    }
    return value;
}

// A look-up in the default scope would find this file's own definition.
CostModel *plugin_cost_model() {
    void *plugin = dlopen(variable("HALIDEGYM_PLUGIN"), RTLD_LAZY | RTLD_LOCAL);
    void *symbol = plugin ? dlsym(plugin, "cost_model") : nullptr;
    if (!symbol) {
        fail("HALIDEGYM_PLUGIN has no cost_model");
    }
    return reinterpret_cast<CostModel *>(symbol);
}

struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

File open_trace() {
    std::FILE *file = std::fopen(variable("HALIDEGYM_TRACE"), "wb");
    if (!file) {
        fail("cannot write HALIDEGYM_TRACE");
    }
    return File(file);
}

const float *host(Buffer buffer) {
    return reinterpret_cast<const float *>(buffer->host);
}

template <typename T>
void write(std::FILE *file, const std::vector<T> &values) {
    if (std::fwrite(values.data(), sizeof(T), values.size(), file) != values.size()) {
        fail("cannot write HALIDEGYM_TRACE");
    }
}

// The buffers are larger than what is in use, so they are read by their strides.
void record(std::FILE *file, int32_t stages, int32_t batch, int32_t cores, Buffer pipeline, Buffer schedule,
            Buffer costs) {
    write(file, std::vector<int32_t>{stages, batch, cores});
    std::vector<float> values;
    for (int32_t w = 0; w < stages; w++) {
        for (int32_t type = 0; type < 7; type++) {
            for (int32_t operation = 0; operation < 40; operation++) {
                const halide_dimension_t *dim = pipeline->dim;
                values.push_back(host(pipeline)[operation * dim[0].stride + type * dim[1].stride + w * dim[2].stride]);
            }
        }
    }
    for (int32_t n = 0; n < batch; n++) {
        for (int32_t w = 0; w < stages; w++) {
            for (int32_t i = 0; i < 39; i++) {
                const halide_dimension_t *dim = schedule->dim;
                values.push_back(host(schedule)[n * dim[0].stride + i * dim[1].stride + w * dim[2].stride]);
            }
        }
    }
    values.insert(values.end(), host(costs), host(costs) + batch);
    write(file, values);
}

}  // namespace

extern "C" int cost_model(int32_t stages, int32_t batch, int32_t cores, Buffer pipeline, Buffer schedule,
                          Buffer filter1, Buffer bias1, Buffer filter2, Buffer bias2, Buffer filter3, Buffer bias3,
                          float learning_rate, int32_t timestep, int32_t reference, Buffer runtimes, Buffer costs,
                          Buffer loss) {
    static CostModel *const original = plugin_cost_model();
    static const File trace = open_trace();
    const int status = original(stages, batch, cores, pipeline, schedule, filter1, bias1, filter2, bias2, filter3,
                                bias3, learning_rate, timestep, reference, runtimes, costs, loss);
    record(trace.get(), stages, batch, cores, pipeline, schedule, costs);
    return status;
}
