"""The suite papers-v1: the sixteen applications on which the papers compare searches for schedules.

Adams et al. 2019, Haj-Ali et al. 2020 (ProTuner) and Gao et al. 2022 (MB2FBS, which leaves out resnet_50).
"""

import functools

from halidegym.envs.pipelines.benchmarks import (
    bgu,
    bilateral_grid,
    camera_pipe,
    conv_layer,
    harris,
    hist,
    iir_blur,
    interpolate,
    lens_blur,
    local_laplacian,
    mat_mul,
    max_filter,
    nl_means,
    resnet_50,
    stencil_chain,
    unsharp,
)
from halidegym.envs.pipelines.suite import Entry, Suite

# In the order of MB2FBS' Table 2.
PAPERS = Suite(
    "papers-v1",
    "the sixteen applications of the papers; resnet_50 in nine blocks",
    (
        Entry("bilateral_grid", bilateral_grid.build, "Chen et al. 2007"),
        Entry("local_laplacian", local_laplacian.build, "Paris et al. 2011"),
        Entry("nl_means", nl_means.build, "Buades et al. 2005"),
        Entry("lens_blur", lens_blur.build, "depth from stereo"),
        Entry("camera_pipe", camera_pipe.build, "Adams et al. 2010"),
        Entry("stencil_chain", stencil_chain.build, "Adams et al. 2019"),
        Entry("harris", harris.build, "Harris, Stephens 1988"),
        Entry("hist", hist.build, "histogram equalization"),
        Entry("max_filter", max_filter.build, "dilation by a disc"),
        Entry("unsharp", unsharp.build, "unsharp masking"),
        Entry("interpolate", interpolate.build, "pull-push pyramid"),
        Entry("conv_layer", conv_layer.build, "layer of a CNN"),
        Entry("iir_blur", iir_blur.build, "recursive filter"),
        Entry("bgu", bgu.build, "Chen et al. 2016"),
        Entry("mat_mul", mat_mul.build, "matrix product"),
        *(
            Entry(f"resnet_50/{block}", functools.partial(resnet_50.build, block), "He et al. 2016")
            for block in resnet_50.MULTIPLICITIES
        ),
    ),
)
