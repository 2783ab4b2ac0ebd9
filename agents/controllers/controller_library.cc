#include "agents/controllers/controller_library.hh"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace ccgym {

namespace {

// dlopen skips a library of another processor architecture, and glibc then reports the existing file like
// this.
constexpr std::string_view kSkippedByLoader = "cannot open shared object file: No such file or directory";

// Returns an absolute path, because dlopen searches the system's folders for a name without a slash. Only
// regular files are accepted, because dlopen would wait for ever on a pipe.
std::string checked_file(const std::string& file) {
  if (file.empty()) refuse_library(file, "expected so:FILE.so or so:FILE.so:ARGS");
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) refuse_library(file, "no such file");
  if (!std::filesystem::is_regular_file(status)) refuse_library(file, "not a regular file");
  return std::filesystem::absolute(file);
}

std::shared_ptr<void> load(const std::string& file) {
  const std::string path = checked_file(file);
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return {handle, [](void* loaded) { dlclose(loaded); }};
  std::string why{dlerror()};
  if (why.starts_with(path + ": ")) why.erase(0, path.size() + 2);
  refuse_library(
      file, "no library that can be loaded: " + (why == kSkippedByLoader ? "of another architecture" : why));
}

const ccgym_controller_table* find_table(const std::string& file, void* handle) {
  void* const symbol = dlsym(handle, "ccgym_controller");
  if (symbol == nullptr) refuse_library(file, "has no function ccgym_controller: see ccgym/controller.h");
  const auto* const table = reinterpret_cast<decltype(&ccgym_controller)>(symbol)();
  if (table == nullptr) refuse_library(file, "ccgym_controller answers NULL");
  if (table->version != CCGYM_CONTROLLER_VERSION)
    refuse_library(file, "made for version " + std::to_string(table->version) +
                             " of ccgym/controller.h, not " + std::to_string(CCGYM_CONTROLLER_VERSION) +
                             ": compile it with the header of this ccgym");
  if (!table->create || !table->destroy || !table->on_ack || !table->on_timeout)
    refuse_library(file, "its table lacks create, destroy, on_ack or on_timeout");
  return table;
}

}  // namespace

void refuse_library(const std::string& file, const std::string& why) {
  throw std::invalid_argument("so:" + file + ": " + why);
}

std::shared_ptr<const ccgym_controller_table> load_controllers(const std::string& file) {
  const std::shared_ptr<void> library = load(file);
  return {library, find_table(file, library.get())};
}

}  // namespace ccgym
