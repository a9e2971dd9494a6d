#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C example of the README is the program that is built and run.

    readme.py README EXAMPLE
"""
import pathlib
import re
import sys

readme, example = (pathlib.Path(path).read_text() for path in sys.argv[1:])
blocks = re.findall(r"^```c\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
spdx, _, program = example.partition("\n")
if "SPDX" not in spdx or blocks != [program]:
    sys.exit("README.md has to have one C block, which is docs/examples/readme.c")
