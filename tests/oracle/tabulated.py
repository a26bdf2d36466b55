"""Searches of the Adams2019 plugin, as tabulated.

Sections and quirks are those of docs/specification/search-and-cost-model.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from halidegym.agents.reference import Adams2019
from oracle.builder_problem import AVX512, BuilderProblem


@dataclass(frozen=True)
class TabulatedSearch:
    """A search and its outcome.

    Attributes:
        agent: log level 1, because costs are tabulated with six significant digits.
        pass_costs: as printed.
        block_hits_and_misses: of the block memoization; None where they are not tabulated.
    """

    problem: BuilderProblem
    agent: Adams2019
    pass_costs: tuple[str, ...]
    evaluations: int
    block_hits_and_misses: tuple[int, int] | None

    @property
    def id(self) -> str:
        default = Adams2019(log_level=1)
        options = [f"{k}={v}" for k, v in vars(self.agent).items() if v != getattr(default, k)]
        target = ["avx512"] if self.problem.target == AVX512 else []
        return "-".join([self.problem.name, *target, f"P={self.problem.parallelism}", *options])


def _search(
    name: str,
    parallelism: int,
    pass_costs: str,
    evaluations: int,
    blocks: tuple[int, int] | None = None,
    /,
    *,
    dropout: tuple[int, int] = (100, 0),  # per cent, seed
    coarse: bool = False,
    target: str | None = None,
    **options: int | bool,
) -> TabulatedSearch:
    costs: list[str] = []
    for item in pass_costs.split():
        costs += [costs[-1]] * (int(item[1:]) - 1) if item.startswith("x") else [item]
    if coarse:
        options |= {"disable_subtiling": True, "memoized_blocks": False}
    agent = Adams2019(random_dropout=dropout[0], random_dropout_seed=dropout[1], log_level=1, **options)  # type: ignore[arg-type]
    problem = BuilderProblem(name, parallelism) if target is None else BuilderProblem(name, parallelism, target)
    return TabulatedSearch(problem, agent, tuple(costs), evaluations, blocks)


def _unmemoized(
    name: str,
    parallelism: int,
    pass_costs: str,
    evaluations: int,
    /,
    *,
    dropout: tuple[int, int] = (100, 0),
    **options: int,
) -> TabulatedSearch:
    return _search(name, parallelism, pass_costs, evaluations, dropout=dropout, memoized_features=False, **options)


#: Section 2.12.
GENERAL = (
    _search("blur", 16, "0.883083 0.901191 0.879084 0.872082 x2", 103901, (320, 156)),
    _search("blur", 8, "0.901022 0.901191 x2 0.883083 x2", 14063, (144, 36), beam_size=4),
    _search("blur", 8, "0.950046", 932, (0, 36), beam_size=1),
    _search("blur", 1, "3.57502 x5", 25189, (0, 0), beam_size=8),
    _search("blur", 8, "0.925701", 613, (0, 36), beam_size=1, dropout=(1, 3)),
    _search("blur", 8, "0.901022 0.918212 0.901191 0.883083 x2", 29230, (144, 70), beam_size=8, dropout=(50, 3)),
    _search("blur", 8, "1.00432 1.03666 x4", 1583, beam_size=8, coarse=True),
    _search("blur", 16, "0.87754 x3 0.864379 x2", 88946, (306, 113), target=AVX512),
    _search("matmul", 16, "0.720866 x5", 13569, (532, 114)),
    _search("matmul", 8, "0.945145 0.801513 x4", 2433, (140, 105), beam_size=4),
    _search("matmul", 8, "1.04937", 165, (0, 35), beam_size=1),
    _search("matmul", 1, "1.46797 x5", 880, (0, 0), beam_size=8),
    _search("matmul", 8, "0.945145", 151, (0, 35), beam_size=1, dropout=(1, 3)),
    _search("matmul", 8, "0.801513 0.756301 x2 0.853564 0.756301", 4473, (210, 105), beam_size=8, dropout=(50, 3)),
    _search("matmul", 8, "0.801513 x5", 921, beam_size=8, coarse=True),
    _search("hist", 16, "0.3196 x5", 815, (454, 39)),
    _search("hist", 8, "0.317046 x5", 250, (170, 38), beam_size=4),
    _search("hist", 8, "0.317046", 38, (0, 38), beam_size=1),
    _search("hist", 1, "3.50547 x5", 15, (0, 0), beam_size=8),
    _search("hist", 8, "0.317046 0.3196 0.317046 x3", 318, (202, 38), beam_size=8, dropout=(50, 3)),
    _search("hist", 8, "0.322988 x5", 30, beam_size=8, coarse=True),
    _search("matmul", 16, "0.724395 0.849409 0.732119 0.760752 x2", 10471, dropout=(10, 0)),
    _search("matmul", 16, "2.20213 1.6642 1.66569 362173 2.5805", 13809, dropout=(10, 7)),
    _search("matmul", 16, "308.886 1.50946e+06 2.52408e+07 1.07227e+07 1.02007e+07", 591, dropout=(0, 0)),
    _search("matmul", 16, "0.756301", 391, beam_size=4, passes=1),
    _search("matmul", 16, "0.853564 0.756301", 860, beam_size=4, passes=2),
    _search("matmul", 16, "0.853564 0.756301 x4", 1955, beam_size=4, memory_limit=1000000),
)

#: Section 2.13: pipelines whose bounds are all affine.
AFFINE = (
    _unmemoized("stencil3", 4, "0.446991", 926, beam_size=1),
    _unmemoized("stencil3", 4, "0.44888", 926, beam_size=1, dropout=(1, 5)),
    _unmemoized("stencil3", 1, "1.33944 1.33558 x4", 7727, beam_size=2),
    _unmemoized("stencil3", 8, "0.464693 0.409131 0.421761 0.409131 0.381074", 16281, beam_size=8, dropout=(50, 3)),
    _unmemoized("stencil3", 4, "0.446991 x2 0.675646 x3", 5450, beam_size=2, memory_limit=60000),
    _unmemoized("stencil3", 4, "0.386399 0.38531 x4", 2366, beam_size=3, coarse=True),
    _unmemoized("lookthrough", 12, "0.653834", 440, beam_size=1, dropout=(1, 11)),
    _unmemoized("lookthrough", 6, "0.389126 x5", 5984, beam_size=2),
    _search("lookthrough", 16, "0.382835 x5", 63590),
    _unmemoized("fanout", 16, "0.12575", 461, beam_size=1),
    _unmemoized("fanout", 5, "0.12421 0.129805 x2 0.12478 x2", 7484, beam_size=4, dropout=(30, 9)),
    _search("fanout", 5, "0.12421 0.129805 x2 0.12478 x2", 7484, beam_size=4, dropout=(30, 9)),
    _unmemoized("fanout", 1, "0.271107 0.259137 x4", 4840, beam_size=3),
    _unmemoized("fanout", 6, "0.117557 x5", 1044, beam_size=4, coarse=True),
    _unmemoized("scan", 16, "0.350745", 53, beam_size=1),
    _unmemoized("scan", 4, "0.0363649 0.0468888 x4", 440, beam_size=4),
    _unmemoized("scan", 1, "0.0821769 x5", 280, beam_size=8),
    _unmemoized("scan", 4, "0.0409043 x5", 301, beam_size=4, coarse=True),
    _unmemoized("mm", 16, "0.0427448", 104, beam_size=1),
    _unmemoized("mm", 16, "0.0387609 x5", 1381, beam_size=4),
    _unmemoized("mm", 3, "0.0449164 0.0387704 0.0418392 0.0483428 0.04843", 3509, beam_size=8, dropout=(40, 2)),
    _search("mm", 4, "0.0566445 0.052577 x4", 245, beam_size=2, memory_limit=100),
    _unmemoized("mm", 16, "0.0384032 x5", 651, beam_size=4, coarse=True),
)
