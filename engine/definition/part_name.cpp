#include "engine/definition/part_name.hpp"

#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

PartName partNameOf(const ::Node* object) {
   std::vector<std::string> parts;
   for (const ::Node* part : sql::ListOf<>(sql::as<::List>(object)))
      parts.emplace_back(sql::stringOf(part));
   PartName named;
   named.name = std::move(parts.back());
   parts.pop_back();
   named.relation = catalog::toQualifiedName(std::move(parts));
   return named;
}

} // namespace ouzel::engine
