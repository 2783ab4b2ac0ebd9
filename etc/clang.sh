#!/bin/bash
# Names a clang++, 14 or later, that can build with the sanitizers; the default compiler where there is none.
set -euo pipefail

for clang in clang++ $(compgen -c clang++- | sort -t- -k2 -nr); do
  if "$clang" -x c++ -fsanitize=address,undefined -o /dev/null - <<<'int main() {}' 2>/dev/null; then
    echo "$clang"
    exit 0
  fi
done
echo "${CXX:-c++}"
