#include "envs/twin/worker_pool.hh"

#include <algorithm>
#include <utility>

namespace ccgym {

namespace {

// Returns when `value` is no longer `old`: polls for a while, then sleeps.
void await_change(const std::atomic<uint32_t>& value, uint32_t old, std::chrono::microseconds poll_time) {
  const auto give_up = std::chrono::steady_clock::now() + poll_time;
  while (value.load() == old) {
    if (std::chrono::steady_clock::now() > give_up) return value.wait(old);
  }
}

uint64_t packed(uint32_t round, uint32_t next) { return (uint64_t{round} << 32) | next; }

}  // namespace

WorkerPool::WorkerPool(std::size_t threads) : shares_(threads) {
  try {
    for (std::size_t i = 1; i < threads; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (...) {  // the system gives no more threads
    stop();
    throw;
  }
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::stop() {
  stopping_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::for_each(std::size_t count, const std::function<void(std::size_t)>& work) {
  const uint32_t round = round_ + 1;
  work_ = &work;
  left_ = static_cast<uint32_t>(count);
  // `end` is written last: a late thread of the round before must not find a longer share.
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    shares_[i].round_next = packed(round, static_cast<uint32_t>(i * count / shares_.size()));
    shares_[i].end = static_cast<uint32_t>((i + 1) * count / shares_.size());
  }
  round_ = round;
  round_.notify_all();
  work_on_shares(0, round);
  for (uint32_t left = left_; left != 0; left = left_) await_change(left_, left, kSpin);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WorkerPool::serve(std::size_t thread) {
  for (uint32_t served = 0;;) {
    await_change(round_, served, kSpin);
    served = round_;
    if (stopping_) return;
    work_on_shares(thread, served);
  }
}

// First the thread's own share, then what is left of the others'.
void WorkerPool::work_on_shares(std::size_t thread, uint32_t round) {
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    Share& share = shares_[(thread + i) % shares_.size()];
    while (const auto begin = take_chunk(share, round))
      do_chunk(*begin, std::min(*begin + kChunk, share.end.load()));
  }
}

std::optional<uint32_t> WorkerPool::take_chunk(Share& share, uint32_t round) {
  uint64_t taken = share.round_next;
  for (;;) {
    const auto next = static_cast<uint32_t>(taken);
    if (taken >> 32 != round || next >= share.end) return std::nullopt;
    if (share.round_next.compare_exchange_weak(taken, packed(round, next + kChunk))) return next;
  }
}

void WorkerPool::do_chunk(uint32_t begin, uint32_t end) {
  try {
    for (uint32_t i = begin; i < end; ++i) (*work_)(i);
  } catch (...) {
    const std::lock_guard lock{failure_mutex_};
    if (!failure_) failure_ = std::current_exception();
  }
  if (left_.fetch_sub(end - begin) == end - begin) left_.notify_one();
}

}  // namespace ccgym
