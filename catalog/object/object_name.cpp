#include "catalog/object/object_name.hpp"

#include <algorithm>

#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/prepared_transaction.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/text_search/text_search.hpp"

namespace ouzel::catalog {

std::optional<NameKey> nameOf(const CatalogObject& object) {
   switch (object.kind) {
   case ObjectKind::Database: return NameKey{object.kind, 0, 0, static_cast<const Database&>(object).name};
   case ObjectKind::Role: return NameKey{object.kind, 0, 0, static_cast<const Role&>(object).name};
   case ObjectKind::Schema: {
      const auto& schema = static_cast<const Schema&>(object);
      return NameKey{object.kind, schema.database, 0, schema.name};
   }
   case ObjectKind::Relation: {
      const auto& relation = static_cast<const Relation&>(object);
      return NameKey{object.kind, relation.database, relation.schema, relation.name};
   }
   case ObjectKind::Server: {
      const auto& server = static_cast<const ForeignServer&>(object);
      return NameKey{object.kind, server.database, 0, server.name};
   }
   case ObjectKind::ForeignWrapper: {
      const auto& wrapper = static_cast<const ForeignWrapper&>(object);
      return NameKey{object.kind, wrapper.database, 0, wrapper.name};
   }
   case ObjectKind::Statistics: {
      const auto& statistics = static_cast<const Statistics&>(object);
      return NameKey{object.kind, statistics.database, statistics.schema, statistics.name};
   }
   case ObjectKind::Collation: {
      const auto& collation = static_cast<const Collation&>(object);
      return NameKey{object.kind, collation.database, collation.schema, collation.name};
   }
   case ObjectKind::TextSearchConfiguration:
   case ObjectKind::TextSearchDictionary:
   case ObjectKind::TextSearchParser:
   case ObjectKind::TextSearchTemplate: {
      const auto& part = static_cast<const TextSearchObject&>(object);
      return NameKey{object.kind, part.database, part.schema, part.name};
   }
   case ObjectKind::Function: {
      const auto& function = static_cast<const Function&>(object);
      return NameKey{object.kind, function.database, function.schema,
                     functionKey(function.name, function.inputTypes())};
   }
   case ObjectKind::Operator: {
      const auto& op = static_cast<const Operator&>(object);
      return NameKey{object.kind, op.database, op.schema, operatorKey(op.name, op.left.named(), op.right.named())};
   }
   case ObjectKind::Cast: {
      const auto& cast = static_cast<const Cast&>(object);
      return NameKey{object.kind, cast.database, 0, operatorKey({}, cast.source.named(), cast.target.named())};
   }
   case ObjectKind::Extension: {
      const auto& extension = static_cast<const Extension&>(object);
      return NameKey{object.kind, extension.database, 0, extension.name};
   }
   case ObjectKind::PreparedTransaction:
      return NameKey{object.kind, 0, 0, static_cast<const PreparedTransaction&>(object).name};
   case ObjectKind::Comment:
   case ObjectKind::Settings:
   case ObjectKind::DefaultAcl:
   case ObjectKind::SystemAcl:
   case ObjectKind::LargeObject:
   case ObjectKind::LargeObjectPages: break;
   }
   return std::nullopt;
}

namespace {

constexpr size_t nameBytesMax = 63;

/// Length of the longest prefix of `name` that has at most `limit` bytes and ends with a whole UTF-8 character.
size_t clippedSize(std::string_view name, size_t limit) {
   size_t size = std::min(name.size(), limit);
   while (size > 0 && size < name.size() && (static_cast<unsigned char>(name[size]) & 0xc0) == 0x80)
      --size;
   return size;
}

} // namespace

std::string joinedName(std::string_view first, std::string_view second, std::string_view label) {
   const size_t overhead = (second.empty() ? 0 : 1) + (label.empty() ? 0 : label.size() + 1);
   const size_t available = nameBytesMax - overhead;
   size_t firstSize = first.size(), secondSize = second.size();
   while (firstSize + secondSize > available)
      --(firstSize > secondSize ? firstSize : secondSize);
   std::string name(first.substr(0, clippedSize(first, firstSize)));
   if (!second.empty()) name += "_" + std::string(second.substr(0, clippedSize(second, secondSize)));
   if (!label.empty()) name += "_" + std::string(label);
   return name;
}

} // namespace ouzel::catalog
