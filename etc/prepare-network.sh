#!/bin/bash
# Sets what mahimahi and kernel TCP need from the running kernel. Lost at reboot, so every set-up looks at it anew.
set -euo pipefail

readonly wanted_controls=(reno bbr cubic)

say() { echo "network: $*"; }

value() { sysctl -n "net.ipv4.$1" 2>/dev/null; }

lists() { [[ " $(value "tcp_$1_congestion_control") " == *" $2 "* ]]; }

tun_is_there() { [[ -c /dev/net/tun ]]; }

# As udev has it: whoever has the right to a network namespace has it to a TUN device in there, no one else.
tun_is_open() { [[ -r /dev/net/tun && -w /dev/net/tun && $(stat -c %a /dev/net/tun) == 666 ]]; }

forwarding_is_on() { [[ $(value ip_forward) == 1 ]]; }

controls_are_allowed() {
  local control
  for control in "${wanted_controls[@]}"; do lists allowed "$control" || return 1; done
}

provide_tun() {
  modprobe tun 2>/dev/null || true
  tun_is_there || { mkdir -p /dev/net && mknod -m 666 /dev/net/tun c 10 200; }
}

allow_controls() {
  local control allowed
  allowed=$(value tcp_allowed_congestion_control)
  for control in "${wanted_controls[@]}"; do
    lists available "$control" || modprobe "tcp_$control" || say "this kernel has no $control: kernel-$control cannot run"
    if lists available "$control" && ! lists allowed "$control"; then allowed+=" $control"; fi
  done
  sysctl -w net.ipv4.tcp_allowed_congestion_control="$allowed"
}

is_ready() { tun_is_there && tun_is_open && forwarding_is_on && controls_are_allowed; }

# Each as far as it goes: root of a container may not set all of it, and training needs none.
provide_all() {
  tun_is_there || provide_tun
  tun_is_open || chmod 666 /dev/net/tun
  forwarding_is_on || sysctl -w net.ipv4.ip_forward=1
  controls_are_allowed || allow_controls
}

if is_ready; then
  say "ready"
elif [[ $EUID -ne 0 ]]; then
  say "skipped, not root: \`ccgym doctor\` says what is missing (set it: sudo $0)"
else
  provide_all || true
  if is_ready; then say "set"; else say "not all can be set here: \`ccgym doctor\` says what is missing"; fi
fi
