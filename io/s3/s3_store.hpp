#pragma once
#include <memory>

#include "io/object_store/object_store.hpp"
#include "io/s3/retriever.hpp"

namespace ouzel::io {

/// Objects below a prefix of a bucket in S3, or in what speaks like it. Large puts go up in parts in parallel, large
/// reads come down so; what is put carries checksums that the store verifies. A put whose answer was lost is known
/// again by a token among the object's metadata, so that a condition decides once.
///
/// 42501 when access is denied; other failures 58030, after repetition (RetrieverOptions).
class S3Store final : public ObjectStore {
public:
   /// Throws what finding the endpoint and the credentials throws; the bucket is first asked by the first call.
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

   /// Uploads in parts.
   void removeLeftovers() override;
   bool isRemote() const override { return true; }
   std::optional<RetrieverStatistics> statistics() const override { return retriever_->statistics(); }
   const S3Location& location() const { return retriever_->location(); }

private:
   void removeBatch(std::span<const std::string> names);

   const std::shared_ptr<Retriever> retriever_; ///< shared with readers and their pending reads
};

} // namespace ouzel::io
