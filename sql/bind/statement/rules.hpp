#pragma once
#include "sql/bind/binder.hpp"
#include "sql/bind/dml/rule_binding.hpp"

namespace ouzel::sql {

/// The relation that INSERT, UPDATE or DELETE writes, if it has rules for that; else null.
catalog::RelationPtr ruledTarget(const ::Node& statement, const BindContext& context);
/// The statement as rules rewrite it: the commands of rules, and what they leave of the statement itself.
BoundQuery bindByRules(const ::Node& statement, const catalog::RelationPtr& target, const BindContext& context);

} // namespace ouzel::sql
