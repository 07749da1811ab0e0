#pragma once
#include <span>
#include <string_view>

// The extensions that CREATE EXTENSION knows. Each is a script of SQL in builtin/extensions, whose functions of
// LANGUAGE c are kernels of the executor.

namespace ouzel::catalog {

struct ExtensionInfo {
   std::string_view name, version, comment;
   std::string_view library; ///< of its functions: "pgcrypto" for $libdir/pgcrypto
   std::string_view script;  ///< statements that make its objects in the first schema of the search_path
   bool isTrusted = true;    ///< CREATE on the database suffices
   bool isRelocatable = true;
   std::string_view schema{}; ///< the only one that it can be in; empty: any
};

/// All of them in the order of their names, plpgsql too, whose objects are built in.
std::span<const ExtensionInfo> extensionInfos();
/// Null: there is no such extension.
const ExtensionInfo* findExtensionInfo(std::string_view name);

} // namespace ouzel::catalog
