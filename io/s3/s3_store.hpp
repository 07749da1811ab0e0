#pragma once
#include <memory>

#include "io/object_store/object_store.hpp"
#include "io/s3/retriever.hpp"

namespace ouzel::io {

/// A store in a bucket of S3, or of a server with S3's protocol: objects below a prefix. Large puts are uploaded, and
/// large reads fetched, in parts in parallel. Puts carry checksums that the server verifies. Each put has a random
/// token in the object's metadata: when the answer to a put is lost, the store finds the token and knows that the put
/// took effect. Thread-safe.
///
/// Throws 42501 when access is denied, and 58030 for other failures after repetition (RetrieverOptions).
class S3Store final : public ObjectStore {
public:
   /// Throws the errors of resolving the endpoint and of `source`. Sends no request to the bucket.
   explicit S3Store(S3Location location, CredentialsSource source = findCredentials, RetrieverOptions options = {});

   using ObjectStore::open;
   using ObjectStore::put;
   bool put(std::string_view name, std::span<const std::string_view> parts, const PutCondition& condition) override;
   std::unique_ptr<ObjectReader> open(std::string_view name) override;
   std::unique_ptr<ObjectReader> open(std::string_view name, uint64_t knownSize) override;
   std::optional<std::string> get(std::string_view name) override;
   std::optional<std::string> tag(std::string_view name) override;
   std::vector<ObjectInfo> list(std::string_view prefix, size_t limit) override;
   void remove(std::string_view name) override;
   void remove(std::span<const std::string> names) override;

   /// Aborts unfinished uploads in parts.
   void removeLeftovers() override;
   bool isRemote() const override { return true; }
   std::optional<RetrieverStatistics> statistics() const override { return retriever_->statistics(); }
   const S3Location& location() const { return retriever_->location(); }

private:
   void removeBatch(std::span<const std::string> names);

   const std::shared_ptr<Retriever> retriever_; ///< shared with readers and their pending reads
};

} // namespace ouzel::io
