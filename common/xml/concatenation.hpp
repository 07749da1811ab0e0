#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "common/xml/declaration.hpp"

namespace ouzel::xml {

/// What XMLCONCAT says in the declaration of the values that it joins: the version, if all have the same one;
/// standalone, if all say something of it.
class JoinedDeclaration {
public:
   /// Notes the declaration of a value and gives its bytes, behind which the content begins.
   size_t add(std::string_view value);
   /// Appends it, or nothing, where none is needed.
   void append(std::string& out) const;

private:
   std::string version_;
   bool hasVersion_ = false, differs_ = false;
   Standalone standalone_ = Standalone::Yes;
};

} // namespace ouzel::xml
