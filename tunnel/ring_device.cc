#include "tunnel/ring_device.hh"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ccgym::tunnel {

namespace {

constexpr std::size_t kMinReads = 2;  // reads one packet and shows that there is no other
constexpr std::size_t kMaxReads = 32;

// RWF_NOWAIT, because io_uring waits for a device even if it is O_NONBLOCK.
void prepare_read(io_uring& ring, int tun, std::span<std::byte> slot, std::size_t index) {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring);
  io_uring_prep_read(entry, tun, slot.data(), static_cast<unsigned>(slot.size()), 0);
  entry->rw_flags = RWF_NOWAIT;
  io_uring_sqe_set_data64(entry, index);
}

void prepare_write(io_uring& ring, int tun, std::span<const std::byte> packet) {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring);
  io_uring_prep_write(entry, tun, packet.data(), static_cast<unsigned>(packet.size()), 0);
  entry->rw_flags = RWF_NOWAIT;
}

bool may_try_again(int result) { return result == -EINTR || result == -EAGAIN || result == -EBUSY; }

// Submits all prepared operations, waits for all of them, and calls `take(index, result)` for each. None is
// left pending, because its buffer is used again.
template <class Take>
void complete(io_uring& ring, unsigned count, Take take) {
  while (count > 0) {
    const int submitted = io_uring_submit_and_wait(&ring, count);
    if (submitted < 0 && !may_try_again(submitted))
      throw std::system_error{-submitted, std::generic_category(), "io_uring"};
    unsigned head = 0;
    unsigned taken = 0;
    io_uring_cqe* result = nullptr;
    io_uring_for_each_cqe(&ring, head, result) {
      take(io_uring_cqe_get_data64(result), result->res);
      ++taken;
    }
    io_uring_cq_advance(&ring, taken);
    count -= taken;
  }
}

}  // namespace

std::unique_ptr<RingDevice> RingDevice::open(int tun, std::size_t mtu) {
  std::unique_ptr<RingDevice> device{new RingDevice{tun, mtu}};
  return device->can_read() ? std::move(device) : nullptr;
}

RingDevice::RingDevice(int tun, std::size_t mtu)
    : tun_(tun),
      slot_bytes_(mtu + 1),
      works_(io_uring_queue_init(kMaxDelivered, &ring_, 0) == 0),
      buffer_(kMaxReads * slot_bytes_),
      requested_(kMinReads) {
  packets_.reserve(kMaxReads);
}

RingDevice::~RingDevice() {
  if (works_) io_uring_queue_exit(&ring_);
}

bool RingDevice::can_read() {
  if (!works_) return false;
  bool read = false;
  prepare_read(ring_, tun_, {}, 0);
  complete(ring_, 1, [&](std::size_t, int result) { read = result == 0 || result == -EAGAIN; });
  return read;
}

std::optional<std::span<const std::byte>> RingDevice::next() {
  if (!holds_packets() && !std::exchange(emptied_, false)) read_waiting();
  if (!holds_packets()) return std::nullopt;
  return packets_[next_++];
}

void RingDevice::read_waiting() {
  packets_.clear();
  next_ = 0;
  for (std::size_t i = 0; i < requested_; ++i)
    prepare_read(ring_, tun_, std::span{buffer_}.subspan(i * slot_bytes_, slot_bytes_), i);
  complete(ring_, static_cast<unsigned>(requested_), [this](std::size_t index, int bytes) {
    if (bytes > 0)
      packets_.push_back(std::span{buffer_}.subspan(index * slot_bytes_, static_cast<std::size_t>(bytes)));
  });
  emptied_ = !packets_.empty() && packets_.size() < requested_;
  requested_ = std::clamp(2 * packets_.size(), kMinReads, kMaxReads);
}

void RingDevice::deliver(std::span<const std::byte> packet) {
  prepare_write(ring_, tun_, packet);
  ++delivered_;
}

void RingDevice::flush() {
  if (delivered_ == 0) return;
  complete(ring_, delivered_, [this](std::size_t, int result) { count_write(result >= 0); });
  delivered_ = 0;
}

}  // namespace ccgym::tunnel
