#include "envs/twin/worker_pool.hh"

#include <algorithm>
#include <utility>

namespace ccgym {

WorkerPool::WorkerPool(std::size_t threads) {
  for (std::size_t i = 1; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::for_each(std::size_t count, const std::function<void(std::size_t)>& work) {
  {
    const std::lock_guard lock{mutex_};
    work_ = &work;
    count_ = count;
    next_ = 0;
    busy_ = threads_.size();
    ++round_;
  }
  wake_.notify_all();
  take_chunks();
  std::unique_lock lock{mutex_};
  done_.wait(lock, [this] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WorkerPool::serve() {
  for (uint64_t served = 0;;) {
    {
      std::unique_lock lock{mutex_};
      wake_.wait(lock, [&] { return stopping_ || round_ != served; });
      if (stopping_) return;
      served = round_;
    }
    take_chunks();
    const std::lock_guard lock{mutex_};
    if (--busy_ == 0) done_.notify_one();
  }
}

void WorkerPool::take_chunks() {
  try {
    for (std::size_t begin = next_.fetch_add(kChunk); begin < count_; begin = next_.fetch_add(kChunk)) {
      const std::size_t end = std::min(count_, begin + kChunk);
      for (std::size_t i = begin; i < end; ++i) (*work_)(i);
    }
  } catch (...) {
    const std::lock_guard lock{mutex_};
    failure_ = std::current_exception();
  }
}

}  // namespace ccgym
