#pragma once
#include "engine/definition/definition.hpp"

namespace ouzel::engine {

/// The texts of the catalog that write a label of an enum which gets another name: views, defaults, checks, policies.
/// Made before the change, and put after it.
class StoredLabels {
public:
   /// `label`: the name that goes; `renamed`: the labels after the change.
   StoredLabels(SessionCore& core, const catalog::Relation& type, std::string_view label, const EnumLabelsPtr& renamed);
   void put(SessionCore& core) const;

private:
   std::vector<catalog::Relation> changed_;
};

} // namespace ouzel::engine
