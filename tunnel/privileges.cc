#include "tunnel/privileges.hh"

#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "deploy/endpoint/errors.hh"

namespace ccgym::tunnel {

namespace {

constexpr uid_t kNobody = 65534;

// Fails only if the user namespace does not map this user. That is tolerable, because the capabilities of
// root are dropped as well.
void become_nobody() {
  static_cast<void>(setgroups(0, nullptr) == 0 && setresgid(kNobody, kNobody, kNobody) == 0 &&
                    setresuid(kNobody, kNobody, kNobody) == 0);
}

}  // namespace

void refuse_setuid() {
  if (geteuid() != getuid() || getegid() != getgid())
    throw InputError{"refuses to run setuid or setgid: take the bit off (chmod ug-s), call it with sudo"};
}

void drop_privileges() {
  if (geteuid() == 0) become_nobody();
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> none{};
  check_system_call("drop the capabilities", static_cast<int>(syscall(SYS_capset, &header, none.data())));
  check_system_call("set no_new_privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  check_system_call("forbid tracing by others", prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

}  // namespace ccgym::tunnel
