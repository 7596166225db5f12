"""docs/python.md: its blocks run, print what it says they print, and leave no name out."""

import contextlib
import io
import os
import re
import unittest

import slimpack

GUIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python.md")
HOLDERS = ("Topology", "Model", "Device", "Planner", "Schedule", "Simulation")


def guide():
    with open(GUIDE) as file:
        return file.read()


class Guide(unittest.TestCase):
    def test_guide_prints_what_it_says(self):
        blocks = re.findall(r"^```(python|text)\n(.*?)^```$", guide(), flags=re.S | re.M)
        self.assertGreater(len(blocks), 8)
        names, said = {}, ""
        for kind, block in blocks:
            if kind == "text":
                self.assertEqual(said, block)
                continue
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block, "docs/python.md", "exec"), names)
            said = out.getvalue()

    def test_guide_names_everything(self):
        words = set(re.findall(r"\w+", re.sub(r"^```.*?^```$", "", guide(), flags=re.S | re.M)))
        public = set(slimpack.__all__)
        for name in HOLDERS:
            public |= {n for n in dir(getattr(slimpack, name)) if not n.startswith("_")}
        self.assertEqual(public - words, set())

    def test_everything_has_a_docstring(self):
        for name in slimpack.__all__:
            thing = getattr(slimpack, name)
            if isinstance(thing, type):
                self.assertTrue(thing.__doc__, name)
                for n in [n for n in vars(thing) if not n.startswith("_")]:
                    member = vars(thing)[n]
                    if callable(member) or isinstance(member, property):
                        self.assertTrue(member.__doc__, f"{name}.{n}")
