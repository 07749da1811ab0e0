#pragma once
#include "io/file/file.hpp"
#include "io/object_store/object_store.hpp"

namespace ouzel::io {

/// A file read as an object. Thread-safe.
class FileReader final : public ObjectReader {
public:
   explicit FileReader(File file) : file_(std::move(file)), size_(file_.size()) {}
   void read(uint64_t offset, size_t size, void* target) const override { file_.readAt(target, size, offset); }
   void prefetch(uint64_t offset, size_t size) const override { file_.prefetch(offset, size); }
   uint64_t size() const override { return size_; }

private:
   File file_;
   uint64_t size_;
};

} // namespace ouzel::io
