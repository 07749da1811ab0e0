#include "common/xml/concatenation.hpp"

namespace ouzel::xml {

size_t JoinedDeclaration::add(std::string_view value) {
   Declaration declaration;
   readDeclaration(value, declaration);
   if (declaration.standalone == Standalone::Unsaid)
      standalone_ = Standalone::Unsaid;
   else if (declaration.standalone == Standalone::No && standalone_ == Standalone::Yes)
      standalone_ = Standalone::No;
   if (!declaration.version)
      differs_ = true;
   else if (!hasVersion_)
      version_ = *declaration.version;
   else
      differs_ = differs_ || version_ != *declaration.version;
   hasVersion_ = hasVersion_ || declaration.version;
   return declaration.size;
}

void JoinedDeclaration::append(std::string& out) const {
   if (differs_ && standalone_ == Standalone::Unsaid) return;
   appendDeclaration(out, differs_ ? std::nullopt : std::optional<std::string>(version_), {}, standalone_);
}

} // namespace ouzel::xml
