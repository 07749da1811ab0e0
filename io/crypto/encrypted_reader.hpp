#pragma once
#include <memory>

#include "io/crypto/encrypted_store.hpp"
#include "io/crypto/sealed_object.hpp"

namespace ouzel::io {

/// Reads ranges of one encrypted object. Each read fetches the whole chunks that the range touches. Thread-safe.
class EncryptedReader final : public ObjectReader {
public:
   /// `threads`: null makes readAsync() read and decrypt before it returns.
   EncryptedReader(std::unique_ptr<ObjectReader> stored, std::shared_ptr<const ObjectOpener> opener,
                   std::shared_ptr<DecryptionThreads> threads)
      : stored_(std::move(stored)), opener_(std::move(opener)), threads_(std::move(threads)) {}

   void read(uint64_t offset, size_t size, void* target) const override;
   void prefetch(uint64_t offset, size_t size) const override;
   /// Large reads are fetched and decrypted in pieces.
   std::unique_ptr<PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                          std::function<void(std::exception_ptr)> done) const override;
   uint64_t size() const override { return opener_->size(); }

private:
   /// Whether the range is not empty. Throws 58030 when the object is shorter.
   bool check(uint64_t offset, size_t size) const;

   const std::unique_ptr<ObjectReader> stored_;
   const std::shared_ptr<const ObjectOpener> opener_; ///< shared with reads that are under way
   const std::shared_ptr<DecryptionThreads> threads_; ///< shared with the store
};

} // namespace ouzel::io
