"""where.py - says where this interpreter looks for packages below a prefix.

    where.py PREFIX

A folder of its own, such as /usr/local/lib/python3.11/dist-packages of Debian, else
PREFIX/lib/pythonX.Y/site-packages.
"""

import site
import sys


def folder(prefix):
    base = prefix.rstrip("/") + "/lib"
    for path in site.getsitepackages() + [site.getusersitepackages()]:
        if path.startswith((base + "/", base + "64/")):
            return path
    return f"{base}/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"


if __name__ == "__main__":
    print(folder(sys.argv[1]))
