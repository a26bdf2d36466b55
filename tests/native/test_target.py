"""What a target string stands for: this machine by its processor's instructions, which Halide does not always ask for."""

from __future__ import annotations

from pathlib import Path

import halide as hl
import pytest

from halidegym.native._core import InvalidParameter, resolve_target

Feature = hl.TargetFeature

AVX512 = {"avx512f", "avx512cd"}
SKYLAKE = AVX512 | {"avx512vl", "avx512bw", "avx512dq"}
CANNONLAKE = SKYLAKE | {"avx512ifma", "avx512vbmi"}
ZEN4 = CANNONLAKE | {"avx512_vnni", "avx512_bitalg", "avx512_vbmi2", "avx512_vpopcntdq"}
"""Names of the kernel."""


def _instructions() -> set[str]:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return set(next(line for line in lines if line.startswith("flags")).partition(":")[2].split())


def test_host_has_what_halide_and_the_kernel_both_tell_of() -> None:
    """In virtual machines that hide AVX-512, Halide takes it to be there, by the processor's model."""
    halides, ours, there = hl.get_host_target(), hl.Target(resolve_target("host")), _instructions()
    for feature, needed in {
        Feature.AVX512: AVX512,
        Feature.AVX512_Skylake: SKYLAKE,
        Feature.AVX512_Cannonlake: CANNONLAKE,
        Feature.AVX512_Zen4: ZEN4,
    }.items():
        assert ours.has_feature(feature) == (halides.has_feature(feature) and needed <= there), feature
    for feature in (Feature.SSE41, Feature.AVX, Feature.AVX2, Feature.FMA, Feature.F16C):
        assert ours.has_feature(feature) == halides.has_feature(feature), feature
    assert (ours.arch, ours.bits, ours.os) == (halides.arch, halides.bits, halides.os)


def test_features_follow_host() -> None:
    host = hl.Target(resolve_target("host"))
    assert resolve_target("host-no_asserts") == str(host.with_feature(Feature.NoAsserts))


def test_a_target_has_its_features_in_one_order() -> None:
    assert resolve_target("x86-64-linux-fma-avx") == resolve_target("x86-64-linux-avx-fma") == "x86-64-linux-avx-fma"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("", "unknown parts"),
        ("hostess", "is no Halide target"),
        ("host-avx3", "is no Halide target"),
        ("x86-64-linux-cuda", "has a GPU"),
    ],
)
def test_what_is_no_target_of_a_cpu(target: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        resolve_target(target)
