#!/bin/sh
""":"
# ccgym scheme wrapper: a Pantheon scheme, as `NAME.py` beside its bin/ and policy.safetensors or as
# src/wrappers/NAME.py of a Pantheon checkout with those in third_party/NAME.
# A shell script, for a host may have no Python; where it is run as `python NAME.py`, as Pantheon
# runs its wrappers, Python 2 or 3 takes this part for a string and hands the file to the shell.

usage() {
    echo "usage: $0 deps | run_first | setup | setup_after_reboot | receiver PORT | sender IP PORT [PREFERENCE]" >&2
    exit 2
}

expect() {
    [ "$1" -eq "$2" ] || usage
}

wrapper=$(readlink -f "$0")
scheme=$(dirname "$wrapper")
[ -d "$scheme/bin" ] || scheme=$scheme/../../third_party/$(basename "$wrapper" .py)
policy=policy:$scheme/policy.safetensors

case ${1-} in
deps | setup_after_reboot)
    expect $# 1
    ;;
run_first)
    expect $# 1
    echo receiver
    ;;
setup)
    expect $# 1
    exec "$scheme/bin/ccgym-sender" --check --scheme "$policy"
    ;;
receiver)
    expect $# 2
    exec "$scheme/bin/ccgym-receiver" "$2" --once
    ;;
sender)
    [ $# -eq 3 ] || expect $# 4
    exec "$scheme/bin/ccgym-sender" "$2" "$3" --scheme "$policy${4:+:$4}"
    ;;
*)
    usage
    ;;
esac
exit
":"""
import os
import sys

os.execv("/bin/sh", ["sh", os.path.realpath(__file__)] + sys.argv[1:])
