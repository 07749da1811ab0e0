#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::executor {

struct XmlNamespace {
   std::string prefix, uri;
};
/// Of an array of pairs, as its bytes; no bytes: none. Throws 22000 for other arrays and 22004 for NULLs.
std::vector<XmlNamespace> xmlNamespaces(std::string_view bytes);

} // namespace ouzel::executor
