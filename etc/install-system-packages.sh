#!/bin/bash
# Installs the Debian packages that ccgym uses: install-system-packages.sh [--tests]
#
# Training needs none of them; evaluation in real mahimahi and the tests do. Installs only what is missing. Where there
# is no apt, no root or no package, it says what is left out and what that means, and lets the set-up go on.
# --tests: also what only the tests use.
set -euo pipefail

readonly mahimahi_page=http://mahimahi.mit.edu
readonly bullseye_sources=/etc/apt/sources.list.d/ccgym-bullseye.sources
readonly bullseye_pin=/etc/apt/preferences.d/ccgym-bullseye
# From 1.8.8 on, libxtables refuses to run in a setuid program, which the mahimahi shells are.
readonly first_refusing_libxtables=1.8.8

say() { echo "system packages: $*"; }

skip() {
  say "skipped, $*"
  say "training and evaluation in the twin work without them, --backend mahimahi, the tunnel and their tests do not"
}

installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == 'install ok installed' ]]; }

missing_of() {
  local package
  for package in "$@"; do installed "$package" || echo "$package"; done
}

python_packages() {  # only a python3 of the distribution leaves venv and headers in packages of their own
  local prefix
  prefix=$("${PYTHON:-python3}" -c 'import sys; print(sys.base_prefix)' 2>/dev/null) || return 0
  if [[ $prefix == /usr ]]; then echo python3-venv python3-dev; fi
}

rust_packages() {  # QUIC programs are built with Rust 1.70 or later; Debian 12 has that under a name of its own
  if command -v cargo >/dev/null; then return; fi
  if [[ ${ID:-}-${VERSION_ID:-} == debian-12 ]]; then echo cargo-web; else echo cargo; fi
}

clang_packages() {  # what its sanitizers link is only recommended, and named by the version
  local runtime
  runtime=$(apt-cache depends clang 2>/dev/null | sed -nE 's/.*Depends: clang-([0-9]+)$/libclang-rt-\1-dev/p') || true
  echo clang clang-tidy
  if [[ -n $runtime ]] && has_candidate "$runtime"; then echo "$runtime"; fi
}

libxtables_refuses() {
  local version
  version=$(dpkg-query -W -f '${Version}' libxtables12 2>/dev/null) || return 1
  dpkg --compare-versions "$version" ge "$first_refusing_libxtables"
}

apt_install() {
  say "installing $*"
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends --allow-downgrades \
    -o DPkg::Lock::Timeout=300 "$@"
}

apt_update_once() {
  [[ -z ${apt_updated:-} ]] || return 0
  apt-get update -q -o DPkg::Lock::Timeout=300 || say "the package lists are old: apt-get update failed"
  apt_updated=yes
}

has_candidate() { [[ $(apt-cache policy "$1") == *'Candidate: '[^\(]* ]]; }

debian_mirror() {  # the mirror this machine has its own release from
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
    awk -v release="$VERSION_CODENAME" '$2 == release && $3 == "main" { print $1; exit }'
}

add_bullseye() {  # the last Debian release with mahimahi; it gives mahimahi and its iptables, nothing else
  local mirror
  mirror=$(debian_mirror)
  [[ -n $mirror ]] || { say "no mirror of $VERSION_CODENAME in the apt sources to take bullseye from"; return; }
  say "adding $mirror bullseye, pinned low"
  cat >"$bullseye_pin" <<PIN
Package: *
Pin: release n=bullseye
Pin-Priority: 100

Package: iptables libxtables12 libip4tc2 libip6tc2
Pin: version 1.8.7-*
Pin-Priority: 1001
PIN
  cat >"$bullseye_sources" <<SOURCE
Types: deb
URIs: $mirror
Suites: bullseye
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCE
  apt_updated=
  apt_update_once
}

install_mahimahi() {
  if installed mahimahi && ! libxtables_refuses; then return; fi
  apt_update_once
  if [[ $ID == debian ]] && { libxtables_refuses || ! has_candidate mahimahi; }; then add_bullseye; fi
  if ! has_candidate mahimahi; then
    skip "$PRETTY_NAME has no mahimahi package: see $mahimahi_page"
    return
  fi
  apt_install mahimahi iptables libxtables12 libip4tc2 libip6tc2 || skip "mahimahi cannot be installed here"
}

install_rest() {
  local missing
  mapfile -t missing < <(missing_of "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  apt_update_once
  apt_install "${missing[@]}" || skip "apt-get cannot install ${missing[*]}"
}

main() {
  # shellcheck disable=SC1091
  if [[ -r /etc/os-release ]]; then . /etc/os-release; fi
  local packages=(iproute2 iputils-ping iperf3 libsodium-dev liburing-dev procps) missing
  # shellcheck disable=SC2046
  if [[ ${1:-} == --tests ]]; then
    if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null && ! installed clang; then apt_update_once; fi
    packages+=(libgtest-dev chromium openssh-server libns3-dev openssl $(clang_packages) $(rust_packages))
  fi
  # shellcheck disable=SC2046
  packages+=($(python_packages))

  if ! command -v apt-get >/dev/null; then
    skip "no apt-get here: mahimahi, iptables < $first_refusing_libxtables, ${packages[*]} are left to you"
    return
  fi
  mapfile -t missing < <(missing_of mahimahi "${packages[@]}")
  if [[ ${#missing[@]} -eq 0 ]] && ! libxtables_refuses; then
    say "complete"
  elif [[ $EUID -ne 0 ]]; then
    skip "not root; missing: ${missing[*]:-iptables < $first_refusing_libxtables} (install: sudo $0 $*)"
  else
    install_mahimahi
    install_rest "${packages[@]}"
    say "done"
  fi
}

main "$@"
