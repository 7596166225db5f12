"""Which library is taken, and what an import says when there is none or a wrong one."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import slimpack

NUMPY_MATTERS = False
PACKAGE = os.path.dirname(os.path.abspath(slimpack.__file__))
LIBRARY = os.environ["SLIMPACK_LIBRARY"]


def imported(path, library=None):
    """What a fresh interpreter prints that imports the package from a folder."""
    env = dict(os.environ, PYTHONPATH=path)
    env.pop("SLIMPACK_LIBRARY")
    if library is not None:
        env["SLIMPACK_LIBRARY"] = library
    code = "import slimpack; print(slimpack.version(), slimpack._abi.lib._name)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=path,
    )
    return (run.stdout + run.stderr).decode().strip().splitlines()[-1]


class Library(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.work = os.path.realpath(work.name)

    def installed(self, *folders):
        """A copy of the package in a folder; the folder."""
        path = os.path.join(self.work, *folders)
        shutil.copytree(PACKAGE, os.path.join(path, "slimpack"))
        return path

    def stub(self, source):
        """A shared object of that source."""
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        path = os.path.join(self.work, "libstub.so")
        cc = os.environ.get("CC", "cc").split()
        subprocess.run(
            [*cc, "-shared", "-fPIC", "-x", "c", "-", "-o", path], input=source, env=env, check=True
        )
        return path

    def test_library_beside_the_sources_is_taken(self):
        path = self.installed("src", "python")
        os.mkdir(os.path.join(self.work, "lib"))
        beside = shutil.copy(LIBRARY, os.path.join(self.work, "lib", "libslimpack.so.1"))
        self.assertEqual(imported(path), f"{slimpack.version()} {beside}")

    def test_library_of_the_same_prefix_is_taken(self):
        path = self.installed("lib", "python3", "dist-packages")
        beside = shutil.copy(LIBRARY, os.path.join(self.work, "lib", "libslimpack.so.1"))
        self.assertEqual(imported(path), f"{slimpack.version()} {beside}")

    def test_environment_comes_first(self):
        path = self.installed("src", "python")
        os.mkdir(os.path.join(self.work, "lib"))
        shutil.copy(LIBRARY, os.path.join(self.work, "lib", "libslimpack.so.1"))
        self.assertEqual(imported(path, LIBRARY), f"{slimpack.version()} {LIBRARY}")

    def test_missing_library_is_named(self):
        said = imported(self.installed("a", "b"), "/nowhere/libslimpack.so.1")
        self.assertIn("ImportError: slimpack: libslimpack.so.1 was not found", said)
        self.assertIn("/nowhere/libslimpack.so.1", said)

    def test_other_abi_is_refused(self):
        stub = self.stub(b"int sp_version(void) { return 20304; }")
        said = imported(self.installed("a", "b"), stub)
        self.assertIn(f"{stub} is version 2.3.4, this module needs 1.x", said)

    def test_older_library_is_refused(self):
        stub = self.stub(b"int sp_version(void) { return 10000; }")
        said = imported(self.installed("a", "b"), stub)
        self.assertIn("is no libslimpack, or an older one", said)
        self.assertIn("sp_", said)

    def test_other_library_is_refused(self):
        stub = self.stub(b"int other(void) { return 0; }")
        self.assertIn("is no libslimpack", imported(self.installed("a", "b"), stub))
