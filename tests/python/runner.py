"""runner.py - runs the unittests of this folder and prints a line for each as cmocka does.

    runner.py without_numpy|with_numpy

Without numpy an import of it fails, installed or not. Files that say
NUMPY_MATTERS = False run once, without. Exit status 1 when a test fails.
"""

import importlib
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class Lines(unittest.TestResult):
    """Prints [       OK ], [  FAILED  ] or [  SKIPPED ] and the test's name."""

    def __init__(self, suffix):
        super().__init__()
        self.suffix = suffix

    def say(self, word, test, text=""):
        name = getattr(test, "_testMethodName", None) or str(test)
        name = name.replace("test_", "python_", 1).replace(" ", "_") + self.suffix
        for line in text.splitlines():
            print(f"    {line}")
        print(f"[{word}] {name}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say("       OK ", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("  SKIPPED ", test, reason)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say("  FAILED  ", test, self.failures[-1][1])

    def addError(self, test, error):
        super().addError(test, error)
        self.say("  FAILED  ", test, self.errors[-1][1])

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            text = (self.failures + self.errors)[-1][1]
            self.say("  FAILED  ", test, f"{subtest._subDescription()}\n{text}")


def main(mode):
    if mode == "without_numpy":
        sys.modules["numpy"] = None  # an import of it fails
    sys.path.insert(0, HERE)
    result = Lines("" if mode == "without_numpy" else "_with_numpy")
    files = sorted(f[:-3] for f in os.listdir(HERE) if f.startswith("test_"))
    for name in files:
        module = importlib.import_module(name)
        if mode == "without_numpy" or getattr(module, "NUMPY_MATTERS", True):
            unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
