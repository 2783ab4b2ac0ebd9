// A few threads that share a loop; the caller works along.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ccgym {

class WorkerPool {
 public:
  explicit WorkerPool(std::size_t threads);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  // Calls `work(i)` once for each i < count, in any order; returns when all are done. The first
  // exception thrown by `work` is rethrown here.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work);

 private:
  static constexpr std::size_t kChunk = 8;

  void serve();
  void take_chunks();

  std::mutex mutex_{};
  std::condition_variable wake_{};
  std::condition_variable done_{};
  const std::function<void(std::size_t)>* work_{nullptr};
  std::size_t count_{0};
  std::atomic<std::size_t> next_{0};
  std::size_t busy_{0};
  uint64_t round_{0};
  bool stopping_{false};
  std::exception_ptr failure_{};
  std::vector<std::thread> threads_{};
};

}  // namespace ccgym
