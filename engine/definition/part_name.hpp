#pragma once
#include <string>

#include "catalog/object/search_path.hpp"
#include "sql/parse/pg_nodes.hpp"

namespace ouzel::engine {

/// The name of a trigger, rule or policy, which is a part of a relation.
struct PartName {
   catalog::QualifiedName relation;
   std::string name;
};
/// As DROP ... ON names it: `object` is the list of the relation's names and the own one.
PartName partNameOf(const ::Node* object);

} // namespace ouzel::engine
