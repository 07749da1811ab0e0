#pragma once
#include <vector>

#include "catalog/object/objects.hpp"
#include "sql/bind/state/bind_context.hpp"

namespace ouzel::sql {

/// Binds the condition and the commands of a rule that is made, for their errors.
void checkRule(const catalog::Relation& table, catalog::RuleEvent event, const ::Node* condition,
               const std::vector<const ::Node*>& actions, const BindContext& context);

} // namespace ouzel::sql
