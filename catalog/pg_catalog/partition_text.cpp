#include <algorithm>

#include "catalog/object/collation.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "catalog/pg_catalog/operator_classes.hpp"
#include "common/error/sql_error.hpp"

// PARTITION BY, FOR VALUES and the constraint that a partition's rows satisfy, as PostgreSQL prints them.

namespace ouzel::catalog {

namespace {

std::string quoted(const std::string& text) {
   std::string result = text.find('\\') == std::string::npos ? "'" : "E'";
   for (const char c : text) {
      if (c == '\'' || c == '\\') result.push_back(c);
      result.push_back(c);
   }
   return result + "'";
}

/// A value as a literal: without quotes where SQL reads the digits as the type.
std::string literal(const PartitionDatum& datum, const SqlType& type, bool isLabelled) {
   switch (datum.kind) {
   case PartitionDatum::Kind::Minimum: return "MINVALUE";
   case PartitionDatum::Kind::Maximum: return "MAXVALUE";
   case PartitionDatum::Kind::Null: return "NULL";
   case PartitionDatum::Kind::Value: break;
   }
   const bool beginsWithDigit = !datum.text.empty() && datum.text[0] >= '0' && datum.text[0] <= '9';
   if (type.oid == oid::boolean) return datum.text == "t" ? "true" : "false";
   if (type.oid == oid::int4 && beginsWithDigit) return datum.text;
   if (type.oid == oid::numeric && beginsWithDigit && datum.text.find_first_of("eE.") != std::string::npos)
      return datum.text;
   return quoted(datum.text) + (isLabelled ? "::" + ouzel::formatType({type.oid, -1, invalidOid}) : "");
}

std::string literals(const std::vector<PartitionDatum>& data, const std::vector<SqlType>& types) {
   std::string list;
   for (size_t i = 0; i < data.size(); ++i)
      list += (i ? ", " : "") + literal(data[i], types[std::min(i, types.size() - 1)], false);
   return list;
}

std::string conjunction(const std::vector<std::string>& conditions) {
   if (conditions.empty()) return {};
   if (conditions.size() == 1) return conditions[0];
   std::string text;
   for (const std::string& condition : conditions)
      text += (text.empty() ? "(" : " AND ") + condition;
   return text + ")";
}

/// The conditions of one partition of a list; `parent` names the key.
std::string listCondition(const PartitionBound& bound, const std::string& column, const SqlType& type) {
   std::vector<const PartitionDatum*> values;
   bool hasNull = false;
   for (const PartitionDatum& datum : bound.values)
      if (datum.kind == PartitionDatum::Kind::Null)
         hasNull = true;
      else
         values.push_back(&datum);
   std::string isOne;
   if (values.size() == 1) isOne = "(" + column + " = " + literal(*values[0], type, true) + ")";
   if (values.size() > 1) {
      for (const PartitionDatum* value : values)
         isOne += (isOne.empty() ? "(" + column + " = ANY (ARRAY[" : ", ") + literal(*value, type, true);
      isOne += "]))";
   }
   if (!hasNull) return conjunction({"(" + column + " IS NOT NULL)", isOne});
   if (isOne.empty()) return "(" + column + " IS NULL)";
   return "((" + column + " IS NULL) OR " + isOne + ")";
}

/// `column operator literal`, in parentheses.
std::string compared(const std::string& column, const char* op, const PartitionDatum& datum, const SqlType& type) {
   return "(" + column + " " + op + " " + literal(datum, type, true) + ")";
}

/// That the key's columns from `first` on are at or above (below) a bound.
std::string beyond(const std::vector<std::string>& columns, const std::vector<SqlType>& types,
                   const std::vector<PartitionDatum>& bound, size_t first, bool isLower) {
   std::vector<std::string> alternatives;
   for (size_t end = first; end < columns.size(); ++end) {
      const PartitionDatum& datum = bound[end];
      std::vector<std::string> conditions;
      for (size_t i = first; i < end; ++i)
         conditions.push_back(compared(columns[i], "=", bound[i], types[i]));
      const bool isOpen = datum.kind == (isLower ? PartitionDatum::Kind::Minimum : PartitionDatum::Kind::Maximum);
      const bool isLast = end + 1 == columns.size() || (bound[end + 1].kind != PartitionDatum::Kind::Value);
      if (datum.kind == PartitionDatum::Kind::Value) {
         const bool includes = isLower
                                   ? end + 1 == columns.size() || bound[end + 1].kind == PartitionDatum::Kind::Minimum
                                   : end + 1 < columns.size() && bound[end + 1].kind == PartitionDatum::Kind::Maximum;
         const char* op = isLower ? (includes ? ">=" : ">") : (includes ? "<=" : "<");
         conditions.push_back(compared(columns[end], op, datum, types[end]));
      }
      if (!(isOpen && conditions.empty())) alternatives.push_back(conjunction(conditions));
      if (isLast || datum.kind != PartitionDatum::Kind::Value) break;
   }
   if (alternatives.empty()) return {};
   std::string text = alternatives[0];
   for (size_t i = 1; i < alternatives.size(); ++i)
      text = (i == 1 ? "(" : "") + text + " OR " + alternatives[i] + (i + 1 == alternatives.size() ? ")" : "");
   return text;
}

std::string rangeCondition(const PartitionBound& bound, const std::vector<std::string>& columns,
                           const std::vector<SqlType>& types) {
   std::vector<std::string> conditions;
   for (const std::string& column : columns)
      conditions.push_back("(" + column + " IS NOT NULL)");
   size_t first = 0; // columns before have one value
   for (; first < columns.size() && bound.lower[first] == bound.upper[first] &&
          bound.lower[first].kind == PartitionDatum::Kind::Value;
        ++first)
      conditions.push_back(compared(columns[first], "=", bound.lower[first], types[first]));
   for (const bool isLower : {true, false})
      if (std::string text = beyond(columns, types, isLower ? bound.lower : bound.upper, first, isLower); !text.empty())
         conditions.push_back(std::move(text));
   return conjunction(conditions);
}

std::string defaultCondition(const Snapshot& snapshot, const Relation& parent, const std::vector<std::string>& columns,
                             const std::vector<SqlType>& types) {
   const auto siblings = snapshot.heirs(parent.oid);
   if (!siblings) return {};
   std::string taken;
   if (parent.partitionKey->strategy == PartitionStrategy::List) {
      PartitionBound all;
      for (const Heir& sibling : siblings->heirs)
         if (!sibling.relation->bound->isDefault)
            all.values.insert(all.values.end(), sibling.relation->bound->values.begin(),
                              sibling.relation->bound->values.end());
      if (all.values.empty()) return {};
      return "(NOT " + listCondition(all, columns[0], types[0]) + ")";
   }
   std::vector<std::string> present;
   for (const std::string& column : columns)
      present.push_back("(" + column + " IS NOT NULL)");
   size_t count = 0;
   for (const Heir& sibling : siblings->heirs) {
      if (sibling.relation->bound->isDefault) continue;
      std::vector<std::string> conditions;
      for (const bool isLower : {true, false}) {
         const PartitionBound& bound = *sibling.relation->bound;
         std::string text = beyond(columns, types, isLower ? bound.lower : bound.upper, 0, isLower);
         if (!text.empty()) conditions.push_back(std::move(text));
      }
      if (conditions.empty()) conditions = present; // from MINVALUE to MAXVALUE
      taken += (count++ ? " OR " : "") + conjunction(conditions);
   }
   if (count == 0) return {};
   if (count > 1) taken = "(" + taken + ")";
   present.push_back(taken);
   return "(NOT " + conjunction(present) + ")";
}

} // namespace

std::string partitionColumnText(const Relation& table, size_t i) {
   const PartitionKey& key = *table.partitionKey;
   if (key.columns[i] != 0) return quoteIdentifier(table.columns[static_cast<size_t>(key.columns[i] - 1)].name);
   const auto before = std::count(key.columns.begin(), key.columns.begin() + static_cast<ptrdiff_t>(i), 0);
   return key.expressions.at(static_cast<size_t>(before));
}

std::string partitionKeyText(const NameContext& context, const Relation& table) {
   if (!table.partitionKey) return {};
   const PartitionKey& key = *table.partitionKey;
   const std::vector<SqlType> types = partitionKeyTypes(table);
   std::string text = key.strategy == PartitionStrategy::List    ? "LIST ("
                      : key.strategy == PartitionStrategy::Range ? "RANGE ("
                                                                 : "HASH (";
   for (size_t i = 0; i < key.columns.size(); ++i) {
      const std::string column = partitionColumnText(table, i);
      const bool isWrapped = key.columns[i] == 0 && column.starts_with('(');
      text += (i ? ", " : "") + (isWrapped ? "(" + column + ")" : column);
      if (key.collations[i] != invalidOid && key.collations[i] != types[i].collation)
         if (const auto collation = collationInfo(context.snapshot, key.collations[i]))
            text += " COLLATE " + displayName(context.snapshot, context.path, *collation);
      if (i < key.classes.size() && key.classes[i] != invalidOid) text += " " + operatorClassName(key.classes[i]);
   }
   return text + ")";
}

std::string partitionBoundText(const Snapshot& snapshot, const Relation& partition) {
   if (!partition.bound) return {};
   const PartitionBound& bound = *partition.bound;
   if (bound.isDefault) return "DEFAULT";
   const RelationPtr parent = snapshot.relation(partition.parents.at(0));
   if (!parent || !parent->partitionKey) return {};
   const std::vector<SqlType> types = partitionKeyTypes(*parent);
   switch (bound.strategy) {
   case PartitionStrategy::List: return "FOR VALUES IN (" + literals(bound.values, types) + ")";
   case PartitionStrategy::Range:
      return "FOR VALUES FROM (" + literals(bound.lower, types) + ") TO (" + literals(bound.upper, types) + ")";
   case PartitionStrategy::Hash:
      return "FOR VALUES WITH (modulus " + std::to_string(bound.modulus) + ", remainder " +
             std::to_string(bound.remainder) + ")";
   }
   return {};
}

std::string partitionConditionText(const Snapshot& snapshot, const Relation& parent, const Relation& partition) {
   const PartitionBound& bound = *partition.bound;
   const std::vector<SqlType> types = partitionKeyTypes(parent);
   std::vector<std::string> columns;
   std::string list;
   for (size_t i = 0; i < parent.partitionKey->columns.size(); ++i) {
      columns.push_back(partitionColumnText(parent, i));
      list += ", " + columns.back();
      // Where another collation than the column's own decides.
      const auto collation = boundCollation(snapshot, parent, i);
      const SchemaPtr schema = collation ? snapshot.schema(collation->schema) : nullptr;
      if (schema && collation->oid != types[i].collation)
         columns.back() = "(" + columns.back() + " COLLATE " + quoteIdentifier(schema->name) + "." +
                          quoteIdentifier(collation->name) + ")";
   }
   if (bound.isDefault) return defaultCondition(snapshot, parent, columns, types);
   switch (bound.strategy) {
   case PartitionStrategy::List: return listCondition(bound, columns[0], types[0]);
   case PartitionStrategy::Range: return rangeCondition(bound, columns, types);
   case PartitionStrategy::Hash: break;
   }
   return "satisfies_hash_partition('" + std::to_string(parent.oid) + "'::oid, " + std::to_string(bound.modulus) +
          ", " + std::to_string(bound.remainder) + list + ")";
}

std::string partitionConstraintText(const Snapshot& snapshot, const Relation& partition) {
   if (!partition.bound) return {};
   const RelationPtr parent = snapshot.relation(partition.parents.at(0));
   if (!parent || !parent->partitionKey) return {};
   const std::string own = partitionConditionText(snapshot, *parent, partition),
                     above = partitionConstraintText(snapshot, *parent);
   if (above.empty() || own.empty()) return above + own;
   const auto inner = [](const std::string& text) {
      const bool isConjunction = text.find(" AND ") != std::string::npos && text.starts_with("((");
      return isConjunction ? text.substr(1, text.size() - 2) : text;
   };
   return "(" + inner(above) + " AND " + inner(own) + ")";
}

Oid partitionRoot(const Snapshot& snapshot, Oid partition) {
   RelationPtr relation = snapshot.relation(partition);
   while (relation && relation->bound)
      relation = snapshot.relation(relation->parents.at(0));
   return relation ? relation->oid : invalidOid;
}

} // namespace ouzel::catalog
