// A few threads that share the iterations of a loop with the caller.
//
// A step of a batch takes a fraction of a millisecond, and the next one follows soon: a thread that the
// kernel has to wake comes too late to be of use. So threads poll for the next loop for a while before they
// sleep. A thread that is late nevertheless, as on a busy host, delays nobody: the caller waits for the work,
// not for the threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace ccgym {

class WorkerPool {
 public:
  // `threads` includes the caller's: one less is started. Throws std::system_error if the system has no more.
  explicit WorkerPool(std::size_t threads);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  // Calls `work(i)` once for each i < count (below 2^32), in any order; returns when all are done. The first
  // exception thrown by `work` is rethrown here; up to eight calls are not made because of it.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& work);

 private:
  static constexpr uint32_t kChunk = 8;                   // indices that a thread takes at once
  static constexpr std::chrono::microseconds kSpin{100};  // then a thread sleeps

  // The part of a loop that belongs to one thread; the same indices each time, whose data its cache still
  // holds.
  struct alignas(64) Share {             // a cache line
    std::atomic<uint64_t> round_next{};  // number of the loop, and the first index not taken yet
    std::atomic<uint32_t> end{};
  };

  void stop();
  void serve(std::size_t thread);
  void work_on_shares(std::size_t thread, uint32_t round);
  static std::optional<uint32_t> take_chunk(Share& share, uint32_t round);
  void do_chunk(uint32_t begin, uint32_t end);

  const std::function<void(std::size_t)>* work_{nullptr};
  std::vector<Share> shares_;  // the caller's, then each thread's
  std::atomic<uint32_t> round_{0};
  std::atomic<uint32_t> left_{0};  // calls to `work` that have not returned
  std::atomic<bool> stopping_{false};
  std::mutex failure_mutex_{};
  std::exception_ptr failure_{};
  std::vector<std::thread> threads_{};
};

}  // namespace ccgym
