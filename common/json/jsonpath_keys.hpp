#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::json {

/// A lax path, cut behind the keys with which it begins: $.a.b[*] ? (@ > 1) is $[*] ? (@ > 1) of what lies at a, b.
struct KeyedPath {
   std::vector<std::string> keys;
   std::string rest; ///< the bytes of a path
};

/// Cuts a path, given as its bytes. Nothing where it begins with no key, or where the rest would give something else:
/// it is strict, names the document again ($), or tells places in it (keyvalue()). Where one of the keys has an array
/// around it, a lax path goes on in the array's elements: the caller knows that there is none.
std::optional<KeyedPath> cutKeys(std::string_view path);

} // namespace ouzel::json
