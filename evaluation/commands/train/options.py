"""What the subcommands of `halidegym train` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from halidegym.evaluation.arguments.paths import PolicyFile
from halidegym.evaluation.output.console import output_console
from halidegym.native.files import real_path

if TYPE_CHECKING:
    from halidegym.training.data.shard import TaughtProblem
    from halidegym.training.imitation.imitate import Imitated


def config_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command --config."""
    return click.option(
        "--config",
        metavar="NAME|FILE",
        default=default,
        show_default=True,
        help=f"YAML file of settings, or the name of one of training/configs/, such as {default}-smoke.",
    )


data_option = click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default="runs/data",
    show_default=True,
    help="Folder that `halidegym train data` wrote.",
)


def policy_option(default: str, recipe: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command --policy, the policy to begin with."""
    return click.option(
        "--policy",
        type=PolicyFile(),
        metavar="NAME|FILE",
        default=default,
        show_default=True,
        help=f"The policy to begin with: a file, such as one of `halidegym train {recipe}`, or a name of the package's.",
    )


def check_apart(output: Path, data: Path) -> None:
    """Refuse a folder to train into that plans are kept in: who removes the one must not lose the other.

    Raises:
        UsageError: it is.
    """
    if real_path(output) in [real_path(folder) for folder in (data, data / "train", data / "validation")]:
        raise click.UsageError(f"--output {output} is where the plans of --data {data} are kept; give another folder.")


def load_plans(data: Path, judged: int) -> tuple[list[TaughtProblem], list[TaughtProblem]]:
    """The problems to learn from, and those to judge by. That the latter are fewer than `judged` is told, and no error: the
    teacher skips pipelines.

    Raises:
        InvalidParameter, FormatError: see `load_split`.
    """
    from halidegym.training.data.collection import load_split

    train, validation = load_split(data, "train"), load_split(data, "validation")
    if len(validation) < judged:
        click.echo(
            f"Note: policies are judged by the {len(validation):,} pipelines with plans in {data / 'validation'}; "
            f"rollouts.problems={judged:,} wants more",
            err=True,
        )
    return train, validation


def print_result(result: Imitated, which: str = "best") -> None:
    """Print the last figures of a training, and where the policy is, the best or the last one."""
    console = output_console()
    for name, value in result.curve[-1].items():
        console.print(f"{name:40} {value:.4g}")
    console.print(f"The {which} policy: {result.policy}")
