"""The Python and the commands of the manual run as they are printed, and print what their page says.

A page is one program: a block goes on with what those before it made, in a folder of its own. Commands that would take
too long are run with smaller amounts, as `commands.yaml` says. Pages that take more than seconds are slow tests, as is any
page that this file does not know.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import halide
import pytest

from commands_for_tests import is_as_printed, shell_lines, write_small_suites
from halidegym.envs.processes.python import python_path
from pages_for_tests import PAGES, ROOT, Block, blocks, commands, is_signature, name_of, source_of

#: Pages that take seconds.
QUICK = {
    "docs/agents/exhaustive.md",
    "docs/agents/greedy.md",
    "docs/environments/synthetic_tree.md",
    "docs/environments/transform_plan.md",
    "docs/tutorials/first-episode.md",
    "docs/versioning.md",
}

#: Pages that other files run, since they need more than a page says.
ELSEWHERE = {"docs/how-to/other-frameworks.md": "tests/test_other_frameworks.py"}

#: What a page has that the reader comes with from another one, or has made long before.
PROBLEM = "from halidegym.envs.sources import load_problem\nproblem = load_problem('toy_stencils', parallelism=4)\n"
PIPELINE = "from halidegym import pipelines\npipeline = pipelines.build('unsharp')\n"
ENVIRONMENT = "import gymnasium as gym, halidegym\nenv = gym.make('HalideSchedule-v0', pipeline='toy_blur')\n"
POLICY = """
import shutil
from pathlib import Path
from halidegym.agents.learned import policies

for recipe in ("imitate", "expert"):
    Path("runs", recipe).mkdir(parents=True)
    shutil.copy(Path(policies.__file__).parent / "shipped/default.npz", f"runs/{recipe}/policy.npz")
"""
COMMAND = "from halidegym.evaluation.cli import main\n"
DATA = COMMAND + "main(['train', 'data', '--config', 'data-smoke', '--output', 'runs/data'], standalone_mode=False)\n"
MEASURED = """
import dataclasses
from pathlib import Path
from halidegym.envs.timing.machine import this_machine
from halidegym.training.measured.collection import MeasuredCollection
from measured_for_tests import pipelines

def of(split, first, count):
    return [dataclasses.replace(schedule, split=split) for schedule in pipelines(first, count)]

for name, schedules in (
    ("learn", of("train", 0, 8) + of("validation", 100, 4)),
    ("unseen", of("test", 200, 4) + of("", 300, 4)),
):
    MeasuredCollection(this_machine(), tuple(schedules)).save(Path(f"{name}.parquet"))
measured = pipelines(0, 1)
"""
WEIGHTS = """
from pathlib import Path
from halidegym.native.weights import builtin_weights, save_weights

Path("agents/learned/shipped").mkdir(parents=True)
for name in ("machine", "first", "second", "final", "example", "old", "own", "agents/learned/shipped/example"):
    save_weights(builtin_weights(), f"{name}.weights")
"""
BLUR = """
from pathlib import Path

Path("{}.py").write_text('''
import halide as hl

def {}():
    x, y = hl.Var("x"), hl.Var("y")
    image, rows, blurred = hl.ImageParam(hl.UInt(8), 2, "image"), hl.Func("rows"), hl.Func("blurred")
    rows[x, y] = hl.f32(image[x, y]) + image[x + 1, y] + image[x + 2, y]
    blurred[x, y] = rows[x, y] + rows[x, y + 1] + rows[x, y + 2]
    image.set_estimates([(0, 130), (0, 98)])
    blurred.set_estimates([(0, 128), (0, 96)])
    return blurred
''')
"""
MINE = "main(['schedule', 'my_blur.py:build', '--agent', 'greedy', '--save', 'mine.json'], standalone_mode=False)\n"
CHECKOUT = f"import shutil\nshutil.copytree({str(ROOT / 'docs')!r}, 'docs', dirs_exist_ok=True)\n"
# What writes records writes them into a package of its own.
PACKAGE = "import halidegym, pathlib, shutil\nshutil.copytree(pathlib.Path(halidegym.__file__).parent, 'halidegym')\n"
RECORD = """
import gymnasium as gym, halidegym
env = gym.make("HalideScheduleHardware-v0", pipeline="toy_blur", database="times.sqlite")
_, info = env.reset(seed=0)
env.step(info["action_mask"].argmax())
env.close()
"""
BEFORE = {
    "README.md": CHECKOUT + BLUR.format("my_pipeline", "blur"),
    "docs/agents/autotune.md": BLUR.format("mine", "build"),
    "docs/agents/greedy.md": PROBLEM + "from halidegym.agents import Greedy\n",
    "docs/agents/guided_mcts.md": PROBLEM,
    "docs/agents/iterated.md": PROBLEM,
    "docs/agents/learned.md": POLICY,
    "docs/agents/mb2fbs.md": PROBLEM,
    "docs/agents/mcts.md": PROBLEM,
    "docs/agents/reference.md": PROBLEM,
    "docs/agents/sgbs.md": PROBLEM,
    "docs/agents/tag.md": PROBLEM,
    "docs/environments/halide_schedule_replay.md": RECORD,
    "docs/environments/speed.md": ENVIRONMENT,
    "docs/how-to/scale-out.md": POLICY,
    "docs/how-to/see-schedules.md": BLUR.format("my_blur", "build") + COMMAND + MINE,
    "docs/pipelines/benchmarks.md": PACKAGE,
    "docs/pipelines/toys.md": PACKAGE,
    "docs/specification/search-and-cost-model.md": PIPELINE,
    "docs/training/aggrevate.md": DATA + POLICY,
    "docs/training/cost-models.md": PROBLEM + MEASURED + WEIGHTS,
    "docs/training/expert.md": DATA + POLICY,
    "docs/training/imitation.md": DATA,
    "docs/training/measured.md": MEASURED + WEIGHTS,
    "docs/training/network.md": PROBLEM
    + "from halidegym.agents import Greedy, Rules\nspace, plan = Rules().space(problem), Greedy().plan(problem)\n",
    "docs/versioning.md": CHECKOUT,
}

#: The cluster of a page is this machine alone.
ENVIRONMENT_VARIABLES = {"RAY_ADDRESS": "local"}

#: Budgets that a reader has and a test has not.
SHORTER = {
    r"at_least\(\d+": "at_least(1",
    r"\bseconds=\d{2,}": "seconds=40",
    r"\brounds=\d+": "rounds=2",
    r"\blearn\([\d_]+\)": "learn(256)",
    r"\bn_steps=\d+": "n_steps=32",
}

_MARK = "\x00 {}\n"
_FUNCTIONS = (
    f"halidegym() {{ {shlex.quote(sys.executable)} -c 'from halidegym.evaluation.cli import main; main()' \"$@\"; }}\n"
    f'python() {{ {shlex.quote(sys.executable)} "$@"; }}\n'
    f"PATH={shlex.quote(str(Path(halide.__file__).parent / 'bin'))}:$PATH\n"
)


def program(page: str, found: list[Block]) -> str:
    """A page as a program that marks where the output of each block begins."""
    lines = [BEFORE.get(page, "")]
    for number, block in enumerate(found):
        lines.append(f"print({_MARK.format(number)!r}, end='', flush=True)\n")
        if block.language == "python":
            lines.append(_shorter(block.text))
        elif block.language == "console":
            script = _FUNCTIONS + "".join(shell_lines(page, command.text) for command in commands(block))
            lines.append(f"import subprocess as _; _.run(['bash', '-ec', {script!r}], check=True, stderr=_.STDOUT)\n")
    return "".join(lines)


def _shorter(text: str) -> str:
    for printed, shorter in SHORTER.items():
        text = re.sub(printed, shorter, text)
    return text


def make_folder(folder: Path, found: list[Block]) -> None:
    """What is there before the first block runs: what the page asks its reader to save, and folders of a checkout."""
    for block in found:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    for checked_out in ("build", "docs/results"):
        (folder / checked_out).mkdir(parents=True)
    write_small_suites(folder)


def cases() -> list[object]:
    """The pages of which something is run, those that take long as slow tests."""
    found = [name_of(page) for page in PAGES if any(is_run(name_of(page), block) for block in blocks(source_of(page)))]
    return [
        pytest.param(page, marks=[] if page in QUICK else pytest.mark.slow, id=page)
        for page in found
        if page not in ELSEWHERE
    ]


def is_run(page: str, block: Block) -> bool:
    """Whether there is anything to run in a block."""
    if block.language == "console":
        return any(shell_lines(page, command.text) for command in commands(block))
    return block.language == "python" and not is_signature(block)


@pytest.mark.parametrize("page", cases())
def test_page(page: str, tmp_path: Path) -> None:
    found = [block for block in blocks(source_of(ROOT / page)) if not is_signature(block)]
    make_folder(tmp_path, found)
    (tmp_path / "page.py").write_text(program(page, found), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env=os.environ | python_path() | ENVIRONMENT_VARIABLES,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"{run.stdout[-5000:]}\n{run.stderr[-5000:]}"
    for number, block in enumerate(found):
        printed = run.stdout.partition(_MARK.format(number))[2].partition("\x00")[0]
        if block.output is not None:
            assert as_read(printed) == as_read(block.output)
        if block.language == "console":
            assert [line for line in promised(page, block) if line not in printed.splitlines()] == []


def as_read(text: str) -> str:
    """Without blanks that nobody sees."""
    return "\n".join(map(str.rstrip, text.splitlines())).rstrip()


def promised(page: str, block: Block) -> list[str]:
    """The lines that the commands print by the page, but for those that do less here."""
    as_printed = [command for command in commands(block) if is_as_printed(page, command.text)]
    return [line for command in as_printed for line in command.output]


def test_pages_elsewhere_are_run_there() -> None:
    for page, file in ELSEWHERE.items():
        assert page in (ROOT / file).read_text(encoding="utf-8").partition('"""\n')[0]
