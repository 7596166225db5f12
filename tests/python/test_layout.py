"""The mirror of the header is exact: sizes, offsets, initialisers, constants, functions."""

import ctypes
import os
import re
import subprocess
import tempfile
import unittest

import slimpack
from slimpack import _abi

NUMPY_MATTERS = False
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
HEADER = os.path.join(ROOT, "include", "slimpack.h")
# Hooks are C functions; plans are built from parts by C programs.
NOT_MIRRORED = {"sp_allocator"}
NOT_BOUND = re.compile("sp_builder_|sp_planner_recycle")  # views outlive a Schedule


def compiled(body):
    """What a C program with that body prints."""
    with tempfile.TemporaryDirectory() as work:
        source, program = os.path.join(work, "a.c"), os.path.join(work, "a")
        with open(source, "w") as file:
            file.write('#include "slimpack.h"\n#include <stdio.h>\nint main(void)\n{\n')
            file.write("\n".join(body) + "\nreturn 0;\n}\n")
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        cc = os.environ.get("CC", "cc").split()
        include = "-I" + os.path.join(ROOT, "include")
        subprocess.run([*cc, "-std=c11", include, source, "-o", program], check=True, env=env)
        return subprocess.run(
            [program], check=True, env=env, stdout=subprocess.PIPE
        ).stdout.decode()


def header():
    with open(HEADER) as file:
        text = file.read()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


class Layout(unittest.TestCase):
    def test_structs_have_the_compilers_layout(self):
        body, ours = [], []
        for struct in _abi.STRUCTS:
            name = struct.__name__
            body.append(f'printf("{name} %zu\\n", sizeof({name}));')
            ours.append(f"{name} {ctypes.sizeof(struct)}")
            for field, kind in struct._fields_:
                c = field.rstrip("_")
                place = f"offsetof({name}, {c}), sizeof((({name} *)0)->{c})"
                body.append(f'printf("{name}.{c} %zu %zu\\n", {place});')
                ours.append(f"{name}.{c} {getattr(struct, field).offset} {ctypes.sizeof(kind)}")
        self.assertEqual(compiled(body).splitlines(), ours)

    def test_structs_have_all_fields_of_the_header(self):
        found = dict(re.findall(r"typedef struct (sp_\w+) \{(.*?)\} \1;", header(), flags=re.S))
        self.assertEqual(set(found) - NOT_MIRRORED, {s.__name__ for s in _abi.STRUCTS})
        for struct in _abi.STRUCTS:
            declared = re.findall(r"(\w+);", found[struct.__name__])
            self.assertEqual(declared, [name.rstrip("_") for name, _ in struct._fields_])

    def test_structs_start_as_their_initialisers(self):
        body, ours = [], []
        for struct in _abi.STRUCTS:
            name = struct.__name__
            body.append(
                f"{{ {name} v = {name.upper()}_INIT; const unsigned char *b = (void *)&v;"
                f' for (size_t i = 0; i < sizeof v; i++) printf("%02x", b[i]); puts(""); }}'
            )
            ours.append(bytes(struct()).hex())
        self.assertEqual(compiled(body).splitlines(), ours)

    def test_constants_are_those_of_the_header(self):
        groups = [
            ("SP_ERR_", [s for s in _abi.Status if s]), ("SP_", [_abi.Status.OK]),
            ("SP_", list(_abi.Pass)), ("SP_PACK_", list(_abi.PackFlag)),
            ("SP_WAIT_", list(_abi.Wait)),
        ]  # fmt: skip
        body, ours = [], []
        for prefix, members in groups:
            for member in members:
                body.append(f'printf("{prefix}{member.name} %d\\n", (int){prefix}{member.name});')
                ours.append(f"{prefix}{member.name} {int(member)}")
        for i, kind in enumerate(_abi.MEMORY_KINDS):
            body.append(f'printf("{kind} %d\\n", (int)SP_MEMORY_{kind.upper()});')
            ours.append(f"{kind} {i}")
        body.append('printf("%d %d\\n", SP_MEMORY_KINDS, SP_VERSION_MAJOR);')
        ours.append(f"{len(_abi.MEMORY_KINDS)} {_abi.ABI}")
        self.assertEqual(compiled(body).splitlines(), ours)

    def test_statuses_are_all_there(self):
        map_of = re.search(r"#define SP_STATUS_MAP.*?\n\n", header(), flags=re.S).group()
        self.assertEqual(len(re.findall(r"X\(SP_", map_of)), len(_abi.Status))

    def test_functions_have_the_headers_signatures(self):
        declared = re.findall(r"^SP_API (.*?)\b(sp_\w+)\((.*?)\);", header(), flags=re.S | re.M)
        kinds = {"sp_status": "i", "int32_t": "i", "sp_pass": "i", "int64_t": "l", "uint64_t": "u"}
        kinds["size_t"] = "z"

        def letter(c):
            if "*" in c:
                return "s" if re.match(r"const char \*\s*\w*$", c.strip()) else "p"
            return "-" if c.strip() == "void" else kinds[re.sub("const ", "", c).split()[0]]

        expected = {}
        for result, name, arguments in declared:
            if not NOT_BOUND.match(name):
                arguments = [a for a in arguments.split(",") if a.strip() != "void"]
                expected[name] = letter(result) + "".join(letter(a) for a in arguments)
        self.assertGreater(len(expected), 60)
        self.assertEqual(_abi.SIGNATURES, expected)

    def test_source_is_python_3_8(self):
        import ast

        for name in sorted(os.listdir(os.path.dirname(slimpack.__file__))):
            if name.endswith(".py"):
                with open(os.path.join(os.path.dirname(slimpack.__file__), name)) as file:
                    ast.parse(file.read(), name, feature_version=(3, 8))
