"""Libraries of controllers, compiled for tests from what `ccgym new controller` writes."""

import subprocess
from pathlib import Path

from ccgym.deploy.new_controller import write_controller

VERSION = (".version = CCGYM_CONTROLLER_VERSION", ".version = 99")
SYMBOL = ("ccgym_controller(void)", "something_else(void)")
NO_CLONE = (".clone = clone", ".clone = NULL")
NO_ON_ACK = (".on_ack = on_ack", ".on_ack = NULL")


def on_ack(statement: str) -> tuple[str, str]:
    """What makes on_ack begin with a statement."""
    return "  (void)now_ms;\n  limits->", f"  (void)now_ms;\n  {statement}\n  limits->"


IN_CPP = """
#include <stdexcept>
#include "ccgym/controller.h"

static int state;
static void* create(const ccgym_config*, ccgym_limits*) { return &state; }
static void destroy(void*) {}
static void on_ack(void*, double, const ccgym_ack*, ccgym_limits*) { STATEMENT }
static void on_timeout(void*, double, const ccgym_timeout*, ccgym_limits*) {}

extern "C" const ccgym_controller_table* ccgym_controller(void) {
  static ccgym_controller_table table{};
  table.version = CCGYM_CONTROLLER_VERSION;
  table.create = create;
  table.destroy = destroy;
  table.on_ack = on_ack;
  table.on_timeout = on_timeout;
  return &table;
}
"""


def build_library(folder: Path, *changes: tuple[str, str], name: str = "aimd") -> Path:
    """NAME.so in a folder of its own under `folder`, of the template with these pieces replaced."""
    written = write_controller(name, "c", folder)
    source = written / f"{name}.c"
    text = source.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    source.write_text(text)
    subprocess.run(["make", "CFLAGS=-w"], cwd=written, check=True, capture_output=True, timeout=60)
    return written / f"{name}.so"


def build_cpp_library(folder: Path, statement: str) -> Path:
    """thrower.so, in C++, with a statement as the body of its on_ack."""
    header = write_controller("header", "c", folder)
    (source := folder / "thrower.cc").write_text(IN_CPP.replace("STATEMENT", statement))
    library = folder / "thrower.so"
    command = ["c++", "-shared", "-fPIC", "-I", str(header), "-o", str(library), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return library
