#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "engine/definition/definition.hpp"

struct TableLikeClause;

namespace ouzel::engine {

/// What CREATE TABLE ... (LIKE source INCLUDING ...) takes over from the source. Attribute numbers are those of the new
/// table.
struct LikeCopy {
   Oid source = invalidOid;
   std::vector<catalog::Column> columns;
   /// Primary key and unique constraints, without names and indexes, each with the options of its index.
   std::vector<std::pair<catalog::Constraint, std::vector<std::string>>> keys;
   std::vector<catalog::Constraint> checks; ///< with their names
   std::vector<catalog::Relation> indexes;  ///< of CREATE INDEX, without name, schema and table
   std::vector<std::pair<catalog::Constraint, catalog::Relation>> exclusions; ///< each with its index, as `indexes`
   std::vector<std::pair<int16_t, catalog::SequenceDefinition>> identities;   ///< of which columns
   std::vector<std::pair<int16_t, std::string>> comments;                     ///< on columns
   bool hasStatistics = false, hasComments = false;                           ///< INCLUDING STATISTICS, COMMENTS
   std::vector<int16_t> numbers; ///< of the new columns, by those of the source
};

/// Gives a copied column's number in the new table; called in the columns' order.
using NumberOf = std::function<int16_t(const std::string& column)>;
/// Throws 42809 for a relation that has no columns to copy.
LikeCopy copyLike(CommandContext& context, const ::TableLikeClause& like, const NumberOf& numberOf);

} // namespace ouzel::engine
