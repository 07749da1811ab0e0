#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace ouzel::io {

/// Keys for a part of an object store, which are used for its objects in the place of those that the server finds in
/// its environment.
struct ObjectAccess {
   std::string accessKeyId, secretAccessKey;
   std::string sessionToken; ///< empty for long-lived keys
   std::string parameters;   ///< of the store's address: empty, or "?endpoint=...&region=..."
   bool operator==(const ObjectAccess&) const = default;
};
using ObjectAccessPtr = std::shared_ptr<const ObjectAccess>;

/// How many characters of the prefix of `root`, an address "s3://bucket/prefix?...", a URL of objects lies below; -1:
/// it does not. The URL may have wildcards, behind the prefix. Its parameters, if it has any, must name the same
/// endpoint. Throws 22023 for what is no address.
int depthBelow(const std::string& url, const std::string& root);

} // namespace ouzel::io
