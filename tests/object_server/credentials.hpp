#pragma once
// Access control: access keys, and the check of requests' signatures (AWS Signature Version 4, in the header or
// presigned).
#include <cstdint>
#include <map>
#include <string>

#include "tests/object_server/http.hpp"
#include "tests/object_server/settings.hpp"

namespace ouzel::object_server {

/// Without any key no request is checked, but requests are still counted by their key for `expire_after`.
class Credentials {
public:
   Credentials(const FaultSettings& settings, std::string region) : settings_(settings), region_(std::move(region)) {}
   /// `expiresAt` in seconds since the epoch; 0: never.
   void add(const std::string& accessKey, const std::string& secret, const std::string& token, int64_t expiresAt = 0);
   /// Checks a request. Throws S3Error when it is refused. True: its payload hash has to be checked, too.
   bool check(const HttpRequest& request);
   uint64_t expiredCount() const { return expired_; }
   void resetCounts();
   const std::string& region() const { return region_; }

private:
   struct Key {
      std::string secret, token;
      int64_t expiresAt = 0;
   };
   /// The parts of a request's signature.
   struct Claim {
      std::string accessKey, date, region, service, signedHeaders, signature, time, token;
      bool isPresigned = false;
   };
   static bool readClaim(const HttpRequest& request, Claim& claim);
   void checkRegion(const Claim& claim) const;
   void checkTime(const HttpRequest& request, const Claim& claim) const;
   void checkExpiry(const Claim& claim, const Key* key);

   const FaultSettings& settings_;
   const std::string region_;
   std::map<std::string, Key> keys_;
   std::map<std::string, uint64_t> uses_; ///< by access key and token
   uint64_t expired_ = 0;
};

} // namespace ouzel::object_server
