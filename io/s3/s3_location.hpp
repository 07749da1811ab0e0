#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ouzel::io {

/// The place of a store's objects: an endpoint, a bucket, and a prefix of all names.
struct S3Location {
   std::string bucket;
   std::string prefix; ///< empty, or ends in '/'
   std::string region;
   std::string host; ///< the endpoint's, without the bucket; IPv6 without brackets
   uint16_t port = 443;
   bool isEncrypted = true;
   /// The bucket is in the path, not in the host's name.
   bool isPathStyle = false;
   /// The address names the endpoint, so a redirect to another region changes the region and not the host.
   bool hasOwnEndpoint = false;

   /// Parses `s3://bucket/prefix?region=…&endpoint=http(s)://host:port&path_style=true|false`. Without an endpoint in
   /// the address, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL is used, else AWS's endpoint of the region, by HTTPS.
   /// Without a region it is AWS_REGION, AWS_DEFAULT_REGION or us-east-1. Without path_style, the path holds the bucket
   /// if an endpoint was named (few servers have a host name per bucket) or the bucket has a dot (no certificate covers
   /// it). Throws 22023; secrets in the address are refused.
   static S3Location parse(std::string_view url);

   /// The host to connect to, which is also the Host header without the port: "bucket.s3.eu-west-1.amazonaws.com".
   std::string serverName() const;
   /// The Host header.
   std::string hostHeader() const;
   /// The path of an object, percent-encoded; with an empty name that of the bucket.
   std::string pathOf(std::string_view objectName) const;
   std::string keyOf(std::string_view objectName) const { return prefix + std::string(objectName); }
   /// For messages: "s3://bucket/prefix/name".
   std::string display(std::string_view objectName) const;
   /// For messages: "https://host:port".
   std::string displayEndpoint() const;
   /// The location of the same bucket in another region.
   S3Location inRegion(std::string_view otherRegion) const;
};

/// True for `s3://…`.
bool isS3Url(std::string_view url);

/// The host of one of AWS's services in a region: "s3.eu-west-1.amazonaws.com".
std::string awsHost(std::string_view service, std::string_view region);
/// Whether the text may be the name of a region, which becomes a part of a host's name.
bool isRegionName(std::string_view text);

/// Percent-encodes as SigV4 requires: all bytes but letters, digits, '-', '.', '_', '~' and, if `keepSlash`, '/'.
std::string percentEncode(std::string_view text, bool keepSlash = false);

} // namespace ouzel::io
