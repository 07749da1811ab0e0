#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ouzel::io {

/// Where objects lie: a bucket behind an endpoint, and what the names of all of them begin with.
struct S3Location {
   std::string bucket;
   std::string prefix; ///< empty, or ends in '/'
   std::string region;
   std::string host; ///< of the endpoint, without the bucket; an IPv6 address without brackets
   uint16_t port = 443;
   bool isEncrypted = true;
   /// The bucket stands in the path and not in the host's name.
   bool isPathStyle = false;
   /// The endpoint was named, so a redirect to another region changes the region and not the host.
   bool hasOwnEndpoint = false;

   /// Read `s3://bucket/prefix?region=…&endpoint=http(s)://host:port&path_style=true|false`. Without an endpoint it is
   /// AWS's in the region, by HTTPS; without a region AWS_REGION, AWS_DEFAULT_REGION or us-east-1. An endpoint alone
   /// may also come from AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL. Paths hold the bucket when an endpoint was named
   /// (what stands behind one seldom has a name per bucket) or the bucket has a dot (no certificate covers it). Throws
   /// 22023; secrets in the address are refused.
   static S3Location parse(std::string_view url);

   /// What the connection is made to, and the Host header without the port: "bucket.s3.eu-west-1.amazonaws.com".
   std::string serverName() const;
   /// The Host header.
   std::string hostHeader() const;
   /// Path of an object, percent-encoded; empty name: the bucket.
   std::string pathOf(std::string_view objectName) const;
   std::string keyOf(std::string_view objectName) const { return prefix + std::string(objectName); }
   /// For messages: "s3://bucket/prefix/name".
   std::string display(std::string_view objectName) const;
   /// For messages: "https://host:port".
   std::string displayEndpoint() const;
   /// The same bucket, found in another region.
   S3Location inRegion(std::string_view otherRegion) const;
};

/// True for `s3://…`.
bool isS3Url(std::string_view url);

/// The host of one of AWS's services in a region: "s3.eu-west-1.amazonaws.com".
std::string awsHost(std::string_view service, std::string_view region);
/// True for what may be the name of a region: it becomes a part of a host's name.
bool isRegionName(std::string_view text);

/// Percent-encode as SigV4 wants it: all but letters, digits, '-', '.', '_', '~' and, if `keepSlash`, '/'.
std::string percentEncode(std::string_view text, bool keepSlash = false);

} // namespace ouzel::io
