#pragma once
#include <memory>

#include "io/crypto/encrypted_store.hpp"
#include "io/crypto/sealed_object.hpp"

namespace ouzel::io {

/// Reads ranges of one encrypted object, by whole chunks of it.
class EncryptedReader final : public ObjectReader {
public:
   /// `threads`: null when reads are to be done on the spot.
   EncryptedReader(std::unique_ptr<ObjectReader> stored, std::shared_ptr<const ObjectOpener> opener,
                   std::shared_ptr<DecryptionThreads> threads)
      : stored_(std::move(stored)), opener_(std::move(opener)), threads_(std::move(threads)) {}

   void read(uint64_t offset, size_t size, void* target) const override;
   void prefetch(uint64_t offset, size_t size) const override;
   /// Large reads arrive, and are decrypted, in pieces.
   std::unique_ptr<PendingRead> readAsync(uint64_t offset, size_t size, void* target,
                                          std::function<void(std::exception_ptr)> done) const override;
   uint64_t size() const override { return opener_->size(); }

private:
   /// Whether there is anything to read. Throws 58030 when the object is shorter.
   bool check(uint64_t offset, size_t size) const;

   const std::unique_ptr<ObjectReader> stored_;
   const std::shared_ptr<const ObjectOpener> opener_; ///< shared with reads that are under way
   const std::shared_ptr<DecryptionThreads> threads_; ///< shared with the store
};

} // namespace ouzel::io
