#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "catalog/object/dependency.hpp"

namespace ouzel::catalog {

/// The OID of the rule _RETURN that a view, or a materialized view, has in pg_rewrite: no other object has it.
constexpr Oid viewRuleOf(Oid view) {
   return view | 0x5000'0000;
}
/// The view of such a rule. Also of a view's own OID, which its rule had in earlier versions.
constexpr Oid viewOfRule(Oid rule) {
   return rule & 0x0fff'ffff;
}

/// What a rule answers, as pg_rewrite.ev_type.
enum class RuleEvent : char { Select = '1', Update = '2', Insert = '3', Delete = '4' };

/// A rule of CREATE RULE. The texts are SQL with qualified names, in which OLD and NEW are the relation's rows.
struct Rule {
   Oid oid = invalidOid;
   std::string name;
   RuleEvent event = RuleEvent::Update;
   bool isInstead = false;
   char enabled = 'O';                ///< as pg_rewrite.ev_enabled: O origin, D disabled, R replica, A always
   std::string condition;             ///< of WHERE; empty: none
   std::vector<std::string> actions;  ///< commands; empty: NOTHING
   std::vector<Dependency> dependsOn; ///< what the condition and the actions read and write
   bool reads(Oid relation, int16_t attribute) const {
      return std::any_of(dependsOn.begin(), dependsOn.end(), [&](const Dependency& read) {
         return read.relation == relation && (attribute == 0 || read.attribute == attribute);
      });
   }
};

} // namespace ouzel::catalog
