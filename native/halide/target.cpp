#include "halide/target.h"

#include <initializer_list>

#include "problem/error.h"

namespace halidegym {

namespace {

// Halide concludes from the model of some processors that they have AVX-512; a virtual machine may hide it, and what is
// compiled for it ends by an illegal instruction there.
Halide::Target host_target() {
    Halide::Target host = Halide::get_host_target();
#if defined(__x86_64__)
    using Feature = Halide::Target::Feature;
    const auto keep_if = [&](bool is_here, std::initializer_list<Feature> features) {
        for (const Feature feature : features) {
            host.set_feature(feature, host.has_feature(feature) && is_here);
        }
    };
    const bool base = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd");
    const bool skylake = base && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq");
    const bool cannonlake = skylake && __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi");
    const bool later = cannonlake && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bitalg") &&
                       __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq");
    keep_if(base, {Feature::AVX512, Feature::AVX512_KNL, Feature::AVX10_1});
    keep_if(skylake, {Feature::AVX512_Skylake});
    keep_if(cannonlake, {Feature::AVX512_Cannonlake});
    keep_if(later, {Feature::AVX512_Zen4, Feature::AVX512_Zen5, Feature::AVX512_SapphireRapids});
#endif
    return host;
}

}  // namespace

Halide::Target known_target(const std::string &name) {
    const std::string remedy =
        " Name architecture, bits and operating system, e.g. \"x86-64-linux-avx2\", or \"host\".";
    const bool is_host = name == "host" || name.starts_with("host-");
    try {
        const Halide::Target target(is_host ? host_target().to_string() + name.substr(4) : name);
        if (name.empty() || target.has_unknowns()) {
            throw InvalidParameter("The target '" + name + "' has unknown parts." + remedy);
        }
        if (target.has_gpu_feature()) {
            throw InvalidParameter("The target '" + name +
                                   "' has a GPU, and schedules are made for CPUs. Leave out its features, such as "
                                   "cuda or opencl.");
        }
        return target;
    } catch (const Halide::Error &) {
        throw InvalidParameter("'" + name + "' is no Halide target." + remedy);
    }
}

}  // namespace halidegym
