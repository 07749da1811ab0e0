#include "io/store/object_access.hpp"

#include <algorithm>

#include "io/s3/s3_location.hpp"

namespace ouzel::io {

namespace {

/// Servers may resolve such parts before they look at the key.
bool hasDotParts(std::string_view path) {
   while (!path.empty()) {
      const std::string_view part = path.substr(0, path.find('/'));
      if (part == "." || part == "..") return true;
      path.remove_prefix(std::min(path.size(), part.size() + 1));
   }
   return false;
}

} // namespace

int depthBelow(const std::string& url, const std::string& root) {
   const S3Location allowed = S3Location::parse(root);
   const size_t question = std::min(url.find('?'), url.size());
   const std::string path = url.substr(0, question);
   const size_t wildcard = std::min(path.find_first_of("*["), path.size());
   const size_t slash = path.rfind('/', wildcard);
   const std::string parameters = url.substr(question),
                     ownParameters = root.substr(std::min(root.find('?'), root.size()));
   if (slash == std::string::npos || slash < std::string_view("s3://").size()) return -1; // names a bucket only
   const S3Location asked =
       S3Location::parse(path.substr(0, slash) + (parameters.empty() ? ownParameters : parameters));
   const bool isSameStore = asked.bucket == allowed.bucket && asked.host == allowed.host &&
                            asked.port == allowed.port && asked.isEncrypted == allowed.isEncrypted;
   if (!isSameStore || !asked.prefix.starts_with(allowed.prefix) || hasDotParts(asked.prefix) ||
       hasDotParts(path.substr(slash + 1)))
      return -1;
   return static_cast<int>(allowed.prefix.size());
}

} // namespace ouzel::io
