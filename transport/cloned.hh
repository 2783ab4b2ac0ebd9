// Owns a polymorphic object that is copied by clone(), so that each copy of the owner has an object of its
// own.
#pragma once

#include <memory>
#include <utility>

namespace ccgym {

template <class Object>
class Cloned {
 public:
  Cloned() = default;
  explicit(false) Cloned(std::unique_ptr<Object> object) : object_{std::move(object)} {}
  Cloned(const Cloned& other) : object_{other.object_ ? other.object_->clone() : nullptr} {}
  Cloned(Cloned&&) noexcept = default;
  Cloned& operator=(const Cloned& other) { return *this = Cloned{other}; }
  Cloned& operator=(Cloned&&) noexcept = default;
  ~Cloned() = default;

  explicit operator bool() const { return object_ != nullptr; }
  Object& operator*() const { return *object_; }
  Object* operator->() const { return object_.get(); }

 private:
  std::unique_ptr<Object> object_{};
};

}  // namespace ccgym
