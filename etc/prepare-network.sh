#!/bin/bash
# Sets what mahimahi and kernel TCP need from the running kernel. Lost at reboot, so every set-up checks it anew.
set -euo pipefail

readonly wanted_controls=(reno bbr cubic)

say() { echo "network: $*"; }

enable_forwarding() {
  [[ $(sysctl -n net.ipv4.ip_forward) == 1 ]] || sysctl -w net.ipv4.ip_forward=1
}

available() { [[ " $(sysctl -n net.ipv4.tcp_available_congestion_control) " == *" $1 "* ]]; }

allow_controls() {
  local control allowed
  for control in "${wanted_controls[@]}"; do
    available "$control" || modprobe "tcp_$control" || say "the kernel has no $control: kernel-$control cannot fly"
  done
  allowed=$(sysctl -n net.ipv4.tcp_allowed_congestion_control)
  for control in "${wanted_controls[@]}"; do
    if available "$control" && [[ " $allowed " != *" $control "* ]]; then allowed+=" $control"; fi
  done
  [[ $allowed == "$(sysctl -n net.ipv4.tcp_allowed_congestion_control)" ]] ||
    sysctl -w net.ipv4.tcp_allowed_congestion_control="$allowed"
}

provide_tun() {
  [[ ! -c /dev/net/tun ]] || return 0
  mkdir -p /dev/net
  modprobe tun 2>/dev/null || true
  [[ -c /dev/net/tun ]] || mknod -m 600 /dev/net/tun c 10 200
}

if [[ $EUID -ne 0 ]]; then
  say "skipped, not root; \`ccgym doctor\` says what is missing (set it: sudo $0)"
else
  provide_tun
  enable_forwarding
  allow_controls
  say "ready"
fi
