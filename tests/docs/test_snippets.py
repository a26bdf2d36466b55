"""The Python of the manual runs as it is printed and prints what its page says; so do the commands of the tutorials.

A page is one program: a block goes on with what those before it made, in a folder of its own. Pages that take more than
seconds are slow tests, as is any page that this file does not know.
"""

from __future__ import annotations

import ast
import inspect
import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from halidegym import agents
from pages_for_tests import PAGES, ROOT, Block, blocks, name_of, prompts, source_of

#: Pages that take seconds.
QUICK = {
    "docs/agents/exhaustive.md",
    "docs/agents/greedy.md",
    "docs/environments/synthetic_tree.md",
    "docs/tutorials/first-episode.md",
    "docs/tutorials/write-an-agent.md",
}

#: Pages that other files run, since they need more than a page says.
ELSEWHERE = {
    "docs/how-to/bring-your-own-pipeline.md": "tests/test_how_to.py",
    "docs/how-to/other-frameworks.md": "tests/test_other_frameworks.py",
    "docs/how-to/scale-out.md": "tests/test_scale_out.py",
    "docs/how-to/see-schedules.md": "tests/test_how_to_see.py",
}

#: What a page has that the reader comes with from another one, or has made long before.
PROBLEM = "from halidegym.envs.sources import load_problem\nproblem = load_problem('toy_stencils', parallelism=4)\n"
PIPELINE = "from halidegym import pipelines\npipeline = pipelines.build('unsharp')\n"
ENVIRONMENT = "import gymnasium as gym, halidegym\nenv = gym.make('HalideSchedule-v0', pipeline='toy_blur')\n"
POLICY = """
import shutil
from pathlib import Path
from halidegym.agents.learned import policies

Path("runs/imitate").mkdir(parents=True)
shutil.copy(Path(policies.__file__).parent / "shipped/default.npz", "runs/imitate/policy.npz")
"""
COMMAND = "from halidegym.evaluation.cli import main\nmain({}, standalone_mode=False)\n"
DATA = COMMAND.format(["train", "data", "--config", "data-smoke", "--output", "runs/data"])
MEASURED = COMMAND.format(
    ["collect", "random-train-v1/53", "--schedules", "12", "--rounds", "1", "--compile-seconds", "60"]
)
WEIGHTS = """
from halidegym.native.weights import builtin_weights, save_weights
from halidegym.training.measured.collection import MeasuredCollection

save_weights(builtin_weights(), "machine.weights")
measured = MeasuredCollection.load("runs/measured").ran
"""
RECORD = """
import gymnasium as gym, halidegym
env = gym.make("HalideScheduleHardware-v0", pipeline="toy_blur", database="times.sqlite")
_, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
env.close()
"""
BEFORE = {
    "docs/agents/greedy.md": PROBLEM + "from halidegym.agents import Greedy\n",
    "docs/agents/guided_mcts.md": PROBLEM,
    "docs/agents/iterated.md": PROBLEM,
    "docs/agents/learned.md": POLICY,
    "docs/agents/mb2fbs.md": PROBLEM,
    "docs/agents/mcts.md": PROBLEM,
    "docs/agents/policy_beam.md": PROBLEM,
    "docs/agents/reference.md": PROBLEM,
    "docs/agents/sgbs.md": PROBLEM,
    "docs/agents/tag.md": PROBLEM,
    "docs/environments/halide_schedule_replay.md": RECORD,
    "docs/environments/speed.md": ENVIRONMENT,
    "docs/specification/search-and-cost-model.md": PIPELINE,
    "docs/training/cost-models.md": PROBLEM + MEASURED + WEIGHTS,
    "docs/training/data.md": DATA,
    "docs/training/measured.md": MEASURED,
    "docs/training/network.md": PROBLEM
    + "from halidegym.agents import Greedy, Rules\nspace, plan = Rules().space(problem), Greedy().plan(problem)\n",
}

#: Budgets that a reader has and a test has not.
SHORTER = {
    r"at_least\(\d+\)": "at_least(1)",
    r"\bseconds=\d{2,}": "seconds=20",
    r"\brounds=\d+": "rounds=2",
    r"\blearn\([\d_]+\)": "learn(256)",
    r"\bn_steps=\d+": "n_steps=32",
}

_SHOWN = re.compile(r"^(\w+)\((.*?)\)$", re.MULTILINE | re.DOTALL)
_MARK = "\x00 {}\n"
_FUNCTIONS = (
    f"halidegym() {{ {shlex.quote(sys.executable)} -c 'from halidegym.evaluation.cli import main; main()' \"$@\"; }}\n"
    f'python() {{ {shlex.quote(sys.executable)} "$@"; }}\n'
)


def is_signature(block: Block) -> bool:
    """Whether a block shows nothing but the parameters of agents, which is no program."""
    return (
        all(name in agents.__all__ for name, _ in _SHOWN.findall(block.text)) and not _SHOWN.sub("", block.text).strip()
    )


def program(page: str, found: list[Block], folder: Path) -> str:
    """A page as a program that marks where the output of each block begins."""
    lines = [BEFORE.get(page, "")]
    for number, block in enumerate(found):
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        lines.append(f"print({_MARK.format(number)!r}, end='', flush=True)\n")
        if block.language == "python":
            lines.append(block.text)
        elif page.startswith("docs/tutorials/"):
            script = _FUNCTIONS + "\n".join(prompts(block))
            lines.append(f"import subprocess as _; _.run(['bash', '-ec', {script!r}], check=True)\n")
    text = "".join(lines)
    for printed, shorter in SHORTER.items():
        text = re.sub(printed, shorter, text)
    return text


def cases() -> list[object]:
    """The pages with Python, those that take long as slow tests."""
    found = [
        name_of(page)
        for page in PAGES
        if any(block.language == "python" and not is_signature(block) for block in blocks(source_of(page)))
    ]
    return [
        pytest.param(page, marks=[] if page in QUICK else pytest.mark.slow, id=page)
        for page in found
        if page not in ELSEWHERE
    ]


@pytest.mark.parametrize("page", cases())
def test_page(page: str, tmp_path: Path) -> None:
    found = [block for block in blocks(source_of(ROOT / page)) if not is_signature(block)]
    (tmp_path / "page.py").write_text(program(page, found, tmp_path), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env=dict(os.environ) | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    for number, block in enumerate(found):
        if block.output is not None:
            printed = run.stdout.partition(_MARK.format(number))[2].partition("\x00")[0]
            assert printed.rstrip() == block.output.rstrip()


def test_pages_elsewhere_are_run_there() -> None:
    for page, file in ELSEWHERE.items():
        assert page in (ROOT / file).read_text(encoding="utf-8").partition('"""\n')[0]


def signatures() -> list[tuple[str, str]]:
    """The parameters that pages show, by the name of the class."""
    shown = [block for page in PAGES for block in blocks(source_of(page)) if is_signature(block)]
    return [found for block in shown for found in _SHOWN.findall(block.text)]


@pytest.mark.parametrize(("name", "parameters"), signatures())
def test_shown_parameters_are_those_of_the_class(name: str, parameters: str) -> None:
    definition = ast.parse(f"def shown({parameters}): ...").body[0]
    assert isinstance(definition, ast.FunctionDef)
    arguments, actual = definition.args, inspect.signature(getattr(agents, name)).parameters
    assert [argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)] == list(actual)
    defaults = [ast.literal_eval(value) for value in (*arguments.defaults, *filter(None, arguments.kw_defaults))]
    of_class = [parameter.default for parameter in actual.values() if parameter.default is not inspect.Parameter.empty]
    for shown, default in zip(defaults, of_class, strict=True):
        assert math.isclose(shown, default, rel_tol=1e-3) if isinstance(default, float) else shown == default
