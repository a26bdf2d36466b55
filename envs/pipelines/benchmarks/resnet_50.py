"""resnet_50: a neural network for images, one pipeline for each of its distinct blocks."""

import dataclasses
from collections.abc import Mapping

import halide as hl

from halidegym.envs.pipelines.expressions import repeat_edge
from halidegym.envs.pipelines.size import side


@dataclasses.dataclass(frozen=True)
class _Block:
    """A bottleneck block (He et al. 2016), with what comes before the first and after the last one."""

    multiplicity: int
    size: int  # width and height of the block's own input
    channels_in: int
    mid: int  # channels between its convolutions; four times as many come out
    stride: int = 1
    projection: bool = False  # a convolution in the shortcut
    stem: bool = False
    head: bool = False


_BLOCKS = {
    "b0": _Block(1, size=56, channels_in=64, mid=64, projection=True, stem=True),
    "b1": _Block(2, size=56, channels_in=256, mid=64),
    "b3": _Block(1, size=56, channels_in=256, mid=128, stride=2, projection=True),
    "b4": _Block(3, size=28, channels_in=512, mid=128),
    "b7": _Block(1, size=28, channels_in=512, mid=256, stride=2, projection=True),
    "b8": _Block(5, size=14, channels_in=1024, mid=256),
    "b13": _Block(1, size=14, channels_in=1024, mid=512, stride=2, projection=True),
    "b14": _Block(1, size=7, channels_in=2048, mid=512),
    "b15": _Block(1, size=7, channels_in=2048, mid=512, head=True),
}
_CLASSES = 1000

MULTIPLICITIES: Mapping[str, int] = {name: block.multiplicity for name, block in _BLOCKS.items()}
"""How often each distinct block occurs among the sixteen of the network."""


def network_total(values: Mapping[str, float]) -> float:
    """Sum over the sixteen blocks, as the papers report the network: of the blocks' run times, or of their costs.

    Args:
        values: by block, "b0" to "b15" or "resnet_50/b0" to "resnet_50/b15"; all nine.

    Raises:
        ValueError: a block is missing, or is no block.
    """
    by_block = {name.removeprefix("resnet_50/"): value for name, value in values.items()}
    if by_block.keys() != MULTIPLICITIES.keys():
        raise ValueError(f"The network is the sum over {', '.join(MULTIPLICITIES)}; got {', '.join(values) or 'none'}")
    return sum(MULTIPLICITIES[name] * value for name, value in by_block.items())


def build(block: str = "b0", size: int | None = None, channel_divisor: int = 1) -> hl.Pipeline:
    """One block of ResNet-50 (He et al. 2016) for a single image; strides are on the 3x3 convolutions.

    Batch normalizations are layers of their own. `b0` comes with the stem (a 7x7 convolution and a maximum pool), `b15`
    with the head (average pool, fully connected layer and softmax). The other names say which block of the sixteen is the
    first with this shape; `MULTIPLICITIES`, how many have it.

    Inputs, float32: `input` (channels, width, height); of each convolution, `<name>_weights` (channels out, kernel width,
    kernel height, channels in), `<name>_mu`, `<name>_sig` (the variance), `<name>_gamma` and `<name>_beta` (channels out),
    with the names `stem`, `conv1`, `conv2`, `conv3` and `shortcut` where the block has them; `fc_weights` (classes,
    channels) and `fc_bias` (classes) of the head.
    Output: `resnet_50` float32 (channels, width, height), or (classes) of `b15`.
    Graph: 54 nodes, 60 stages (b0); 31, 34 (b1, b4, b8, b14); 39, 43 (b3, b7, b13); 38, 44 (b15).

    Args:
        block: a key of `MULTIPLICITIES`.
        size: width and height of the input; by default as in the network, 224 for `b0`.
        channel_divisor: makes the network narrower: numbers of channels and of classes are divided by it.

    Raises:
        ValueError: there is no such block, the size is none, or the channels do not divide.
    """
    if block not in _BLOCKS:
        raise ValueError(f"There is no block {block!r} of resnet_50: use one of {', '.join(MULTIPLICITIES)}")
    shape = _BLOCKS[block]
    channels = 3 if shape.stem else _divided(shape.channels_in, channel_divisor)
    size = side((4 * shape.size if shape.stem else shape.size) if size is None else size)
    image = hl.ImageParam(hl.Float(32), 3, "input")
    image.set_estimates([(0, channels), (0, size), (0, size)])

    layer = _Tensor(image, channels, size)
    if shape.stem:
        stem = _normalized_conv("stem", layer, _divided(64, channel_divisor), kernel=7, pad=3, stride=2)
        layer = _max_pool(_relu(0, stem))
    mid = _divided(shape.mid, channel_divisor)
    main = _relu(1, _normalized_conv("conv1", layer, mid))
    main = _relu(2, _normalized_conv("conv2", main, mid, kernel=3, pad=1, stride=shape.stride))
    main = _normalized_conv("conv3", main, 4 * mid)
    shortcut = layer
    if shape.projection:
        shortcut = _normalized_conv("shortcut", layer, 4 * mid, stride=shape.stride)
    output = _relu(3, _sum(shortcut, main))
    if shape.head:
        output = _softmax(_fully_connected(_average_pool(output), _divided(_CLASSES, channel_divisor)))
    return _finish(output)


@dataclasses.dataclass(frozen=True)
class _Tensor:
    """A layer's output, indexed (channel, column, row)."""

    func: hl.Func | hl.ImageParam
    channels: int
    size: int  # width and height; 0 for a vector


_c, _i, _j = hl.Var("c"), hl.Var("i"), hl.Var("j")


def _divided(count: int, divisor: int) -> int:
    if count % divisor != 0:
        raise ValueError(f"channel_divisor: {count} channels cannot be divided by {divisor}")
    return count // divisor


def _parameter(name: str, *extents: int) -> hl.ImageParam:
    image = hl.ImageParam(hl.Float(32), len(extents), name)
    image.set_estimates([(0, extent) for extent in extents])
    return image


def _padded(number: int, layer: _Tensor) -> hl.Func:
    """The layer, and 0 around it; as `halide.BoundaryConditions.constant_exterior`, with a number of one's own."""
    outside = hl.Expr(False)
    for at in (_i, _j):
        outside = outside | (at < 0) | (at >= hl.Expr(0) + layer.size)
    edge = repeat_edge(number, layer.func, [None, (0, layer.size), (0, layer.size)])
    padded = hl.Func(f"constant_exterior{number}")
    padded[_c, _i, _j] = hl.select(outside, hl.f32(0), hl.likely(edge[_c, _i, _j]))
    return padded


def _normalized_conv(
    name: str, layer: _Tensor, channels: int, kernel: int = 1, pad: int = 0, stride: int = 1
) -> _Tensor:
    """Convolution without a bias, batch normalization and scale: three Funcs, and two for the padding if there is any."""
    source = _padded(2 if name == "conv2" else 0, layer) if pad > 0 else layer.func
    weights = _parameter(f"{name}_weights", channels, kernel, kernel, layer.channels)
    r = hl.RDom([(0, layer.channels), (0, kernel), (0, kernel)], f"{name}_r")
    conv, norm, scale = hl.Func(name), hl.Func(f"{name}_norm"), hl.Func(f"{name}_scale")
    column, row = stride * _i + r.y - pad, stride * _j + r.z - pad
    conv[_c, _i, _j] += weights[_c, r.y, r.z, r.x] * source[r.x, column, row]

    mu, sig, gamma, beta = (_parameter(f"{name}_{key}", channels) for key in ("mu", "sig", "gamma", "beta"))
    norm[_c, _i, _j] = (conv[_c, _i, _j] - mu[_c]) / hl.sqrt(sig[_c] + hl.f32(1e-5))
    scale[_c, _i, _j] = norm[_c, _i, _j] * gamma[_c] + beta[_c]
    return _Tensor(scale, channels, (layer.size + 2 * pad - kernel) // stride + 1)


def _relu(number: int, layer: _Tensor) -> _Tensor:
    relu = hl.Func(f"relu{number}")
    relu[_c, _i, _j] = hl.max(hl.f32(0), layer.func[_c, _i, _j])
    return dataclasses.replace(layer, func=relu)


def _sum(a: _Tensor, b: _Tensor) -> _Tensor:
    total = hl.Func("sum")
    total[_c, _i, _j] = a.func[_c, _i, _j] + b.func[_c, _i, _j]
    return dataclasses.replace(a, func=total)


def _max_pool(layer: _Tensor) -> _Tensor:
    """The maximum of each 3x3 window, two apart; 0 outside does no harm after a relu."""
    padded, pool = _padded(1, layer), hl.Func("max_pool")
    r = hl.RDom([(0, 3), (0, 3)], "pool_r")
    pool[_c, _i, _j] = hl.maximum(padded[_c, 2 * _i + r.x - 1, 2 * _j + r.y - 1])
    return _Tensor(pool, layer.channels, (layer.size - 1) // 2 + 1)


def _average_pool(layer: _Tensor) -> _Tensor:
    """The average of all of the layer's positions."""
    pool = hl.Func("average_pool")
    r = hl.RDom([(0, layer.size), (0, layer.size)], "pool_r")
    pool[_c, _i, _j] += hl.f32(1 / layer.size**2) * layer.func[_c, _i + r.x, _j + r.y]
    return _Tensor(pool, layer.channels, 1)


def _fully_connected(layer: _Tensor, classes: int) -> _Tensor:
    weights, bias = _parameter("fc_weights", classes, layer.channels), _parameter("fc_bias", classes)
    connected = hl.Func("fc")
    r = hl.RDom([(0, layer.channels)], "fc_r")
    connected[_c] = bias[_c]
    connected[_c] += weights[_c, r.x] * layer.func[r.x, 0, 0]
    return _Tensor(connected, classes, 0)


def _softmax(layer: _Tensor) -> _Tensor:
    exponential, softmax = hl.Func("exponential"), hl.Func("softmax")
    r = hl.RDom([(0, layer.channels)], "softmax_r")
    exponential[_c] = hl.exp(layer.func[_c])
    softmax[_c] = exponential[_c] / hl.sum(exponential[r.x], "sum2")
    return dataclasses.replace(layer, func=softmax)


def _finish(layer: _Tensor) -> hl.Pipeline:
    """The pipeline that computes the layer, whose shape is fixed."""
    extents = [layer.channels] if layer.size == 0 else [layer.channels, layer.size, layer.size]
    for var, extent in zip((_c, _i, _j), extents, strict=False):
        layer.func.bound(var, 0, extent)
    return hl.Pipeline(layer.func)
