"""What pyproject.toml cannot say: the compiler `tensorc._tensorc`, and the runtime archive, made by tensorc itself."""

import glob
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "python"))
from tensorc import cc  # noqa: E402

HEADERS = sorted(glob.glob("compiler/*.h") + glob.glob("compiler/*.def"))


class BuildExt(build_ext):
    """Compiles only the objects that are older than their sources, in parallel; then the archive."""

    def build_extensions(self):
        plain_compile = self.compiler._compile

        def compile_if_stale(obj, src, *rest):
            made = os.path.getmtime(obj) if os.path.exists(obj) else 0.0
            if any(os.path.getmtime(path) >= made for path in [src, *HEADERS]):
                plain_compile(obj, src, *rest)

        def compile_parallel(sources, **options):
            with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
                return sum(pool.map(lambda source: plain_sources([source], **options), sources), [])

        plain_sources = self.compiler.compile
        self.compiler._compile = compile_if_stale
        self.compiler.compile = compile_parallel
        super().build_extensions()

    def run(self):
        super().run()
        # The runtime travels with the package, as sources and compiled. An editable install reads the sources in place.
        place = os.path.join("python" if self.inplace else self.build_lib, "tensorc", "rt")
        if not self.inplace:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree("runtime", place)
        cc.build_archive(cc.find(None), os.path.join(HERE, "runtime"), os.path.join(place, cc.ARCHIVE))


setup(
    ext_modules=[
        Extension(
            "tensorc._tensorc",
            sorted(glob.glob("compiler/*.c")),
            include_dirs=["compiler"],
            depends=HEADERS,
            extra_compile_args=["-std=c11", "-fvisibility=hidden"],
        )
    ],
    cmdclass={"build_ext": BuildExt},
)
