#pragma once
#include <memory>
#include <string>

#include "io/object_store/object_store.hpp"
#include "io/s3/retriever.hpp"

namespace ouzel::io {

/// Reads ranges of one object, large ranges by several requests at once. With a tag, reading an object that was
/// replaced since is an error, so that a read never mixes versions.
class S3Reader final : public ObjectReader {
public:
   /// An empty tag: any version.
   S3Reader(std::shared_ptr<Retriever> retriever, std::string name, uint64_t size, std::string tag)
      : retriever_(std::move(retriever)), name_(std::move(name)), size_(size), tag_(std::move(tag)) {}

   void read(uint64_t offset, size_t size, void* target) const override;
   /// Does nothing: there is no buffer to prefetch into. Callers read ahead by readAsync().
   void prefetch(uint64_t, size_t) const override {}
   std::unique_ptr<PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                          std::function<void(std::exception_ptr)> done) const override;
   uint64_t size() const override { return size_; }

private:
   const std::shared_ptr<Retriever> retriever_; ///< shared with the store
   const std::string name_;
   const uint64_t size_;
   const std::string tag_;
};

} // namespace ouzel::io
