"""The command line: `tensorc` and `python -m tensorc`. Results on stdout, problems on stderr; exit 0, 1, 2."""

import argparse
import gc
import importlib.util
import os
import sys

from tensorc import __version__
from tensorc.config import CHOICES
from tensorc.problem import Problem


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tensorc", description="Compiles typed Python functions over tensors into native extension modules."
    )
    parser.add_argument("--version", action="version", version=f"tensorc {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def settings(command: argparse.ArgumentParser) -> None:
        for key, choices in CHOICES.items():
            command.add_argument(f"--{key}", choices=choices, help=f"as the key {key} of [tool.tensorc]")

    check = commands.add_parser("check", help="what becomes native, and why the rest does not")
    check.add_argument(
        "paths",
        nargs="*",
        default=["."],
        metavar="PATH",
        help="files, folders or projects, or programs of torch.export: model.pt2 (default: .)",
    )
    form = check.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_const", const="json", dest="format")
    form.add_argument("--format", choices=("text", "json"))
    check.add_argument("--fail-on", choices=("rejected", "not-candidate"), help="exit 1 when there is such a function")
    check.add_argument("--no-report", action="store_true", help=argparse.SUPPRESS)
    settings(check)

    build = commands.add_parser("build", help="the importable tree .tensorc/build/python and a wheel in dist/")
    build.add_argument("root", nargs="?", default=".", metavar="ROOT", help="or a program of torch.export: model.pt2")
    build.add_argument(
        "--cc", help='the C compiler, with arguments if any: "ccache gcc" (default: $CC, cc, gcc, clang)'
    )
    build.add_argument("-j", "--jobs", type=int, metavar="N", help="compilations at a time (default: one a core)")
    build.add_argument("-q", "--quiet", action="store_true", help="say nothing when all went well")
    settings(build)

    show = commands.add_parser("show", help="one function at one stage of its compilation")
    show.add_argument("target", metavar="FILE:FUNC", help="or a program of torch.export: model.pt2")
    show.add_argument("--stage", choices=("ast", "graph", "ir", "plan", "c"), default="ir")

    bench = commands.add_parser("bench", help="eager and native side by side")
    bench.add_argument("target", metavar="FILE:FUNC", help="or a program of torch.export: model.pt2")
    bench.add_argument("--rows", default="1,16,128", help="sizes of the batch, separated by commas")
    bench.add_argument(
        "--args", metavar="FILE:MAKE", help="a function make(name, rows) or make(rows) that gives the arguments"
    )
    bench.add_argument("--cc", help="the C compiler")
    bench.add_argument("--json", action="store_true")

    init = commands.add_parser("init", help="write [tool.tensorc] into pyproject.toml")
    init.add_argument("root", nargs="?", default=".", metavar="ROOT")
    init.add_argument("--force", action="store_true", help="replace the table that is there")

    clean = commands.add_parser("clean", help="remove .tensorc/")
    clean.add_argument("root", nargs="?", default=".", metavar="ROOT")
    clean.add_argument("--cache", action="store_true", help="the user's cache of runtime archives too")

    capabilities = commands.add_parser("capabilities", help="every type and rule, as JSON")
    capabilities.add_argument("--json", action="store_true", help="the only form there is")
    return parser


def _flags(args: argparse.Namespace) -> dict[str, str | None]:
    return {key: getattr(args, key.replace("-", "_")) for key in CHOICES}


def _write(data: bytes) -> None:
    """Bytes to stdout, whatever its encoding."""
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(data.decode())
    else:
        buffer.write(data)
        buffer.flush()


def _folder(path: str) -> str:
    if os.path.isfile(path):
        raise Problem(f"{path} is a file: name the folder of its project")
    if not os.path.isdir(path):
        raise Problem(f"{path}: no such folder: name the folder of a project")
    return os.path.abspath(path)


def _is_program(path: str) -> bool:
    """Whether it is one of torch.export. Problem when it is named so, and there is none, or no torch to read it."""
    if not path.endswith(".pt2"):
        return False
    if not os.path.isfile(path):
        raise Problem(f"{path}: no such file: name what torch.export.save wrote")
    if importlib.util.find_spec("torch") is None:
        raise Problem(f"{path}: torch is not installed, which reads such programs")
    return True


def _check(args: argparse.Namespace) -> int:
    programs = [path for path in args.paths if _is_program(path)]
    if programs:
        if len(programs) < len(args.paths):
            raise Problem("programs of torch.export are checked apart from sources: name one or the other")
        from tensorc import exported

        return exported.check(programs, args.format == "json", args.fail_on)
    return _check_sources(args)


def _check_sources(args: argparse.Namespace) -> int:
    from tensorc import config, frontend, project

    units = []
    unparsed = []
    seen = set()
    for path in args.paths:
        settings = config.load(config.find_root(os.path.abspath(path)), _flags(args))
        for file in project.sources(path, settings):
            if file.path in seen:
                continue
            seen.add(file.path)
            name = file.path if args.format == "json" else project.shown(file.path)
            unit = frontend.compile_source(file, frontend.read(file.path), settings, name)
            if isinstance(unit, frontend.Unparsed):
                unparsed.append(unit)
            else:
                units.append(unit)
    if args.format == "json":
        folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in map(os.path.abspath, args.paths)]
        _write(frontend.report(units, unparsed, os.path.commonpath(folders)))
    else:
        for unit in units:
            sys.stdout.write(unit.report_text())
        print(frontend.summary(units, unparsed))
    for bad in unparsed:
        print(bad.text(), file=sys.stderr)
    wanted = {"rejected": ("rejected",), "not-candidate": ("rejected", "not-candidate")}.get(args.fail_on, ())
    found = bool(wanted) and any(function["status"] in wanted for unit in units for function in unit.functions)
    return 1 if unparsed or found else 0


def _build(args: argparse.Namespace) -> int:
    if _is_program(args.root):
        from tensorc import model_wheel

        return model_wheel.build(args.root, args.cc, args.quiet)
    from tensorc import build, config

    root = _folder(args.root)
    return build.build(root, config.load(root, _flags(args)), args.cc, args.jobs, args.quiet)


def _show(args: argparse.Namespace) -> int:
    if _is_program(args.target):
        if args.stage == "ast":
            raise Problem(f"{args.target}: a program has no stage ast: use graph, ir, plan or c")
        from tensorc import exported

        sys.stdout.write(exported.show(args.target, args.stage))
        return 0
    if args.stage == "graph":
        raise Problem(f"{args.target}: a function has no stage graph: use ast, ir, plan or c")
    from tensorc import bench, config

    path, name = bench.split_target(args.target)
    file, _, unit = bench.compile_unit(path, config.load(config.find_root(path)))
    bench.find_function(unit, file, name)
    sys.stdout.write(unit.show(name, args.stage))
    return 0


def _bench(args: argparse.Namespace) -> int:
    from tensorc import bench

    try:
        rows = [int(part) for part in args.rows.split(",")]
    except ValueError:
        rows = []
    if not rows or min(rows) < 1:
        raise Problem(f"--rows is {args.rows!r}: give numbers above 0, separated by commas")
    if _is_program(args.target):
        from tensorc import exported

        return exported.bench(args.target, rows, args.cc, args.json)
    return bench.bench(args.target, rows, args.args, args.cc, args.json)


def _init(args: argparse.Namespace) -> int:
    from tensorc import config

    print(config.init(_folder(args.root), args.force))
    return 0


def _clean(args: argparse.Namespace) -> int:
    import shutil

    from tensorc import cc

    for path in [os.path.join(_folder(args.root), ".tensorc"), *(cc.cached() if args.cache else [])]:
        if os.path.isdir(path):
            shutil.rmtree(path)
            print(f"removed {path}")
        elif os.path.exists(path):
            os.unlink(path)
            print(f"removed {path}")
    return 0


def _capabilities(args: argparse.Namespace) -> int:
    from tensorc import frontend

    _write(frontend.extension().capabilities())
    return 0


_COMMANDS = {
    "check": _check,
    "build": _build,
    "show": _show,
    "bench": _bench,
    "init": _init,
    "clean": _clean,
    "capabilities": _capabilities,
}


def main(argv: list[str] | None = None) -> int:
    """Runs one command; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    args = _parser().parse_args(argv)
    if args.command in ("check", "build"):
        gc.disable()  # short and full of long-lived trees: collecting them is a fifth of the time
    try:
        code = _COMMANDS[args.command](args)
        sys.stdout.flush()
        return code
    except Problem as problem:
        print(f"tensorc: {problem}", file=sys.stderr)
    except BrokenPipeError:  # `| head`: the reader has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"tensorc: {where}{error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("tensorc: interrupted", file=sys.stderr)
        return 130
    return 1


if __name__ == "__main__":
    sys.exit(main())
