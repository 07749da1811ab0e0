#include "engine/definition/partition/bound.hpp"

#include <algorithm>

#include "catalog/object/collation.hpp"
#include "catalog/object/heirs.hpp"
#include "catalog/object/partition_hash.hpp"
#include "catalog/object/partition_map.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "catalog/pg_catalog/operator_classes.hpp"
#include "common/base_type/citext.hpp"
#include "common/base_type/type_form.hpp"
#include "common/number/scaled_value.hpp"
#include "common/type/order_key.hpp"
#include "common/type/text_codec.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/index/index_draft.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/query/internal_sql.hpp"
#include "executor/expression/evaluator.hpp"
#include "sql/algebra/collations.hpp"
#include "sql/bind/stored_expression.hpp"

// PARTITION BY and FOR VALUES.

namespace ouzel::engine {

using catalog::PartitionBound;
using catalog::PartitionDatum;
using catalog::PartitionStrategy;
using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

constexpr size_t keyColumnsMax = 32;
/// Bytes for the values of one bound while it is evaluated.
constexpr size_t evaluationMemoryMax = 8 << 20;

PartitionStrategy strategyOf(const ::PartitionSpec& spec) {
   const std::string name = spec.strategy;
   if (name == "range") return PartitionStrategy::Range;
   if (name == "list") return PartitionStrategy::List;
   if (name == "hash") return PartitionStrategy::Hash;
   throw SqlError(sqlstate::invalidParameterValue, "unrecognized partitioning strategy \"" + name + "\"");
}

/// The name of the column that an element is; empty: it is an expression.
std::string columnName(const ::PartitionElem& element) {
   if (element.name) return element.name;
   if (!isNode(element.expr, T_ColumnRef)) return {};
   const ListOf<> fields(as<::ColumnRef>(element.expr)->fields);
   return fields.size() == 1 && isNode(fields[0], T_String) ? std::string(stringOf(fields[0])) : std::string();
}

void requirePartitionable(Oid oid, bool isNamedClass, PartitionStrategy strategy) {
   const SqlType type{oid, -1, invalidOid};
   const bool isHash = strategy == PartitionStrategy::Hash;
   const catalog::Builtins& builtins = catalog::builtins();
   const bool hasOperators = isHash ? builtins.defaultHashFamily(type.oid) != invalidOid
                                    : builtins.comparisonOperator(type.oid, catalog::BtreeStrategy::Less) != nullptr;
   if (!hasOperators && !isNamedClass) {
      const std::string method = isHash ? "hash" : "btree";
      throw SqlError(sqlstate::undefinedObject, "data type " + formatType(type) +
                                                    " has no default operator class for access method \"" + method +
                                                    "\"")
          .hint("You must specify " + std::string(isHash ? "a hash" : "a btree") +
                " operator class or define a default " + method + " operator class for the data type.");
   }
   if (type.oid == oid::citext) throwNotSupported("partitioning by values of type citext");
   if (isHash && !catalog::hasPartitionHash(type))
      throwNotSupported("partitioning by hash of type " + formatType(type));
   if (strategy == PartitionStrategy::Range && findTypeForm(type.oid))
      throwNotSupported("partitioning by range of type " + formatType(type));
}

/// Adds elements of PARTITION BY to a key.
class PartitionKeyBuilder {
public:
   PartitionKeyBuilder(CommandContext& context, const catalog::Relation& table, catalog::PartitionKey& key)
      : context_(context), table_(table), key_(key) {}

   void add(const ::PartitionElem& element);

private:
   SqlType addColumn(const ::PartitionElem& element, const std::string& name);
   SqlType addExpression(const ::PartitionElem& element);
   void addClass(const ::PartitionElem& element, const SqlType& type);

   CommandContext& context_;
   const catalog::Relation& table_;
   catalog::PartitionKey& key_;
};

SqlType PartitionKeyBuilder::addColumn(const ::PartitionElem& element, const std::string& name) {
   const uint32_t position = context_.position(element.location);
   const catalog::Column* column = table_.findColumn(name);
   if (!column && (name == "ctid" || name == "xmin" || name == "xmax" || name == "tableoid"))
      throw SqlError(sqlstate::invalidObjectDefinition, "cannot use system column \"" + name + "\" in partition key")
          .at(position);
   if (!column)
      throw SqlError(sqlstate::undefinedColumn, "column \"" + name + "\" named in partition key does not exist")
          .at(position);
   if (column->generated)
      throw SqlError(sqlstate::invalidObjectDefinition, "cannot use generated column in partition key")
          .at(position)
          .detail("Column \"" + name + "\" is a generated column.");
   key_.columns.push_back(column->attribute);
   return column->type;
}

SqlType PartitionKeyBuilder::addExpression(const ::PartitionElem& element) {
   const auto refuse = [](const std::string& message) { return SqlError(sqlstate::invalidObjectDefinition, message); };
   const catalog::SearchPath path = context_.core.searchPath();
   const auto bound = sql::bindExpression(*element.expr, sql::ExpressionUse::PartitionKey, &table_, std::nullopt, {},
                                          context_.core.bindContext(path, nullptr)); // PostgreSQL gives no positions
   const sql::BindContext bind = context_.core.bindContext(path, &context_.source());
   const std::string_view text = context_.source().text();
   const std::string_view own = expressionAt(text.substr(static_cast<size_t>(element.location)));
   sql::StoredExpression stored =
       sql::storedExpression(*element.expr, sql::ExpressionUse::PartitionKey, &table_, std::nullopt, bind,
                             static_cast<uint32_t>(own.data() - text.data()), static_cast<uint32_t>(own.size()));
   if (stored.readsRow) throwNotSupported("a whole row in a partition key", context_.position(element.location));
   for (const sql::GetColumn& input : bound.inputs) {
      const catalog::Column& column = *table_.column(input.attribute);
      if (column.generated)
         throw refuse("cannot use generated column in partition key")
             .at(context_.position(element.location))
             .detail("Column \"" + column.name + "\" is a generated column.");
      if (std::find(key_.reads.begin(), key_.reads.end(), input.attribute) == key_.reads.end())
         key_.reads.push_back(input.attribute);
   }
   if (!isImmutable(*bound.expr) || bound.callsMutable)
      throw refuse("functions in partition key expression must be marked IMMUTABLE");
   if (bound.inputs.empty()) throw refuse("cannot use constant expression as partition key");
   key_.columns.push_back(0);
   key_.expressions.push_back(isPrintedBare(element.expr) ? std::move(stored.text) : "(" + stored.text + ")");
   key_.types.push_back(bound.expr->type);
   return bound.expr->type;
}

void PartitionKeyBuilder::addClass(const ::PartitionElem& element, const SqlType& type) {
   const std::string method = key_.strategy == PartitionStrategy::Hash ? "hash" : "btree";
   requirePartitionable(type.oid, element.opclass != nullptr, key_.strategy);
   if (!element.opclass) return;
   const std::string name(stringOf(ListOf<>(element.opclass).back()));
   const Oid named = catalog::namedOperatorClass(method, name, type.oid);
   if (named == invalidOid) return;
   key_.classes.resize(key_.columns.size(), invalidOid);
   key_.classes.back() = named;
}

void PartitionKeyBuilder::add(const ::PartitionElem& element) {
   const std::string name = columnName(element);
   const SqlType type = name.empty() ? addExpression(element) : addColumn(element, name);
   Oid collation = type.collation;
   if (element.collation)
      collation = sql::collated(type, element.collation, context_.core.transaction.catalog(),
                                context_.core.searchPath(), context_.position(element.location))
                      .collation;
   if (collation == sql::conflictingCollation)
      throw SqlError(sqlstate::indeterminateCollation,
                     "could not determine which collation to use for partition expression")
          .hint("Use the COLLATE clause to set the collation explicitly.");
   addClass(element, type);
   key_.collations.push_back(collation);
}

} // namespace

catalog::PartitionKey partitionKeyOf(CommandContext& context, const ::PartitionSpec& spec,
                                     const catalog::Relation& table) {
   catalog::PartitionKey key;
   key.strategy = strategyOf(spec);
   const ListOf<::PartitionElem> elements(spec.partParams);
   if (key.strategy == PartitionStrategy::List && elements.size() > 1)
      throw SqlError(sqlstate::invalidObjectDefinition,
                     "cannot use \"list\" partition strategy with more than one column");
   if (elements.size() > keyColumnsMax)
      throw SqlError(sqlstate::tooManyColumns,
                     "cannot partition using more than " + std::to_string(keyColumnsMax) + " columns");
   PartitionKeyBuilder builder(context, table, key);
   for (const ::PartitionElem* element : elements)
      builder.add(*element);
   return key;
}

namespace {

/// Reads the bounds of one FOR VALUES.
class BoundReader {
public:
   BoundReader(CommandContext& context, const catalog::Relation& parent) : context_(context), parent_(parent) {}

   catalog::Column column(size_t i) const {
      const int16_t attribute = parent_.partitionKey->columns[i];
      if (attribute != 0) return parent_.columns[static_cast<size_t>(attribute - 1)];
      catalog::Column computed;
      computed.name = catalog::partitionColumnText(parent_, i);
      computed.type = catalog::partitionKeyTypes(parent_)[i];
      return computed;
   }
   std::vector<PartitionDatum> range(const ::List* list, const char* which);
   std::vector<PartitionDatum> list(const ::List* list);

private:
   PartitionDatum value(const ::Node* node, size_t i);

   CommandContext& context_;
   const catalog::Relation& parent_;
};

/// The value for column `i` of the key.
PartitionDatum BoundReader::value(const ::Node* node, size_t i) {
   const catalog::Column target = column(i);
   const catalog::SearchPath path = context_.core.searchPath();
   const uint32_t position = context_.position(sql::startLocation(node));
   sql::BoundExpression bound;
   try {
      bound = sql::bindExpression(*node, sql::ExpressionUse::PartitionBound, nullptr, withoutDomain(target.type),
                                  target.name, context_.core.bindContext(path, &context_.source()));
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::datatypeMismatch) throw;
      throw SqlError(sqlstate::datatypeMismatch, "specified value cannot be cast to type " +
                                                     formatType({target.type.oid, -1, invalidOid}) + " for column \"" +
                                                     target.name + "\"")
          .at(position);
   }
   executor::FunctionContext functions = context_.core.functionContext();
   MemoryLedger ledger(evaluationMemoryMax);
   Reservation memory(ledger);
   const Value value = withOwnScale(executor::ExpressionEvaluator(functions, memory).evaluate(*bound.expr),
                                    target.type.oid, bound.expr->repr);
   PartitionDatum datum;
   if (value.isNull) {
      datum.kind = PartitionDatum::Kind::Null;
      return datum;
   }
   const SqlType type{target.type.oid, -1, invalidOid};
   SessionFormat format; // the catalog's, whatever the session's settings are
   format.types = context_.core.format().types;
   datum.text = ouzel::textOf(type, value, format);
   const catalog::Snapshot& snapshot = context_.core.transaction.catalog();
   if (const auto collation = catalog::boundCollation(snapshot, parent_, i)) {
      const auto key = sql::makeCollationKey(std::move(bound.expr), {collation->oid, std::string(collation->icuLocale),
                                                                     collation->isDeterministic, false});
      appendValueKey(datum.key, catalog::boundTypes(snapshot, parent_)[i],
                     executor::ExpressionEvaluator(functions, memory).evaluate(*key));
      return datum;
   }
   appendValueKey(datum.key, type, value);
   return datum;
}

/// Whether one of the values is equal, as the collation says.
bool hasValue(const std::vector<PartitionDatum>& data, const PartitionDatum& wanted) {
   return std::any_of(data.begin(), data.end(), [&](const PartitionDatum& datum) {
      return datum.kind == wanted.kind && datum.key == wanted.key;
   });
}

std::vector<PartitionDatum> BoundReader::list(const ::List* list) {
   std::vector<PartitionDatum> data;
   for (const ::Node* node : ListOf<>(list)) {
      PartitionDatum datum = value(node, 0);
      if (!hasValue(data, datum)) data.push_back(std::move(datum));
   }
   return data;
}

/// `which`: "FROM" or "TO".
std::vector<PartitionDatum> BoundReader::range(const ::List* list, const char* which) {
   const ListOf<> nodes(list);
   if (nodes.size() != parent_.partitionKey->columns.size())
      throw SqlError(sqlstate::invalidTableDefinition,
                     std::string(which) + " must specify exactly one value per partitioning column");
   std::vector<PartitionDatum> data;
   PartitionDatum::Kind infinite = PartitionDatum::Kind::Value;
   for (size_t i = 0; i < nodes.size(); ++i) {
      PartitionDatum datum;
      const ::Node* node = nodes[static_cast<uint32_t>(i)];
      std::string word;
      if (isNode(node, T_ColumnRef) && ListOf<>(as<::ColumnRef>(node)->fields).size() == 1 &&
          isNode(ListOf<>(as<::ColumnRef>(node)->fields)[0], T_String))
         word = stringOf(ListOf<>(as<::ColumnRef>(node)->fields)[0]);
      if (word == "minvalue" || word == "maxvalue") {
         datum.kind = word == "minvalue" ? PartitionDatum::Kind::Minimum : PartitionDatum::Kind::Maximum;
      } else {
         datum = value(node, i);
         if (datum.kind == PartitionDatum::Kind::Null)
            throw SqlError(sqlstate::invalidObjectDefinition, "cannot specify NULL in range bound");
      }
      if (infinite != PartitionDatum::Kind::Value && datum.kind != infinite) {
         const std::string name = infinite == PartitionDatum::Kind::Minimum ? "MINVALUE" : "MAXVALUE";
         throw SqlError(sqlstate::datatypeMismatch, "every bound following " + name + " must also be " + name)
             .at(context_.position(sql::startLocation(node)));
      }
      if (datum.kind != PartitionDatum::Kind::Value) infinite = datum.kind;
      data.push_back(std::move(datum));
   }
   return data;
}

} // namespace

PartitionBound partitionBoundOf(CommandContext& context, const ::PartitionBoundSpec& spec,
                                const catalog::Relation& parent) {
   PartitionBound bound;
   bound.strategy = parent.partitionKey->strategy;
   if (spec.is_default) {
      if (bound.strategy == PartitionStrategy::Hash)
         throw SqlError(sqlstate::invalidTableDefinition, "a hash-partitioned table may not have a default partition");
      bound.isDefault = true;
      return bound;
   }
   if (spec.strategy != static_cast<char>(bound.strategy))
      throw SqlError(sqlstate::invalidTableDefinition, std::string("invalid bound specification for a ") +
                                                           (bound.strategy == PartitionStrategy::Hash   ? "hash"
                                                            : bound.strategy == PartitionStrategy::List ? "list"
                                                                                                        : "range") +
                                                           " partition")
          .at(context.position(spec.location));
   BoundReader reader(context, parent);
   switch (bound.strategy) {
   case PartitionStrategy::List: bound.values = reader.list(spec.listdatums); break;
   case PartitionStrategy::Range:
      bound.lower = reader.range(spec.lowerdatums, "FROM");
      bound.upper = reader.range(spec.upperdatums, "TO");
      break;
   case PartitionStrategy::Hash: {
      const auto refuse = [](const char* message) { throw SqlError(sqlstate::invalidTableDefinition, message); };
      if (spec.modulus <= 0) refuse("modulus for hash partition must be an integer value greater than zero");
      if (spec.remainder < 0)
         refuse("remainder for hash partition must be an integer value greater than or equal to zero");
      if (spec.remainder >= spec.modulus) refuse("remainder for hash partition must be less than modulus");
      bound.modulus = spec.modulus;
      bound.remainder = spec.remainder;
      break;
   }
   }
   return bound;
}

namespace {

/// "(1, MINVALUE)"
std::string boundText(const std::vector<PartitionDatum>& data, const catalog::Relation& parent,
                      const catalog::Snapshot& snapshot) {
   catalog::Relation shown;
   shown.parents = {parent.oid};
   shown.bound.emplace();
   shown.bound->lower = shown.bound->upper = data;
   const std::string text = catalog::partitionBoundText(snapshot, shown); // FOR VALUES FROM (...) TO (...)
   return text.substr(text.find(") TO (") + 5);
}

/// Where an error points in a bound: at the value that another partition takes, or at the first.
uint32_t positionIn(CommandContext& context, const ::PartitionBoundSpec& spec, const PartitionBound& bound,
                    const PartitionBound& other) {
   if (bound.strategy == PartitionStrategy::List) {
      const ListOf<> nodes(spec.listdatums);
      for (uint32_t i = 0; i < nodes.size() && i < bound.values.size(); ++i)
         if (hasValue(other.values, bound.values[i])) return context.position(sql::startLocation(nodes[i]));
      return context.position(spec.location);
   }
   if (bound.strategy != PartitionStrategy::Range) return context.position(spec.location);
   const ListOf<> lower(spec.lowerdatums), upper(spec.upperdatums);
   // The upper bound is the culprit where the lower one lies in a gap.
   const std::string from = tupleKey(bound.lower), otherFrom = tupleKey(other.lower);
   const ListOf<>& nodes = from < otherFrom ? upper : lower;
   return context.position(sql::startLocation(nodes[0]));
}

void requireModulus(const catalog::HeirList& partitions, const PartitionBound& bound) {
   const auto refuse = [](const std::string& detail) {
      throw SqlError(sqlstate::invalidObjectDefinition,
                     "every hash partition modulus must be a factor of the next larger modulus")
          .detail(detail);
   };
   const auto nameOf = [&](int i) { return partitions.heirs[static_cast<size_t>(i)].relation->name; };
   const auto [below, above] = partitions.map->neighbours(bound.modulus);
   const auto modulusOf = [&](int i) { return partitions.map->modulusOf(static_cast<uint32_t>(i)); };
   const std::string modulus = std::to_string(bound.modulus);
   if (below != catalog::PartitionMap::none && bound.modulus % modulusOf(below) != 0)
      refuse("The new modulus " + modulus + " is not divisible by " + std::to_string(modulusOf(below)) +
             ", the modulus of existing partition \"" + nameOf(below) + "\".");
   if (above != catalog::PartitionMap::none && modulusOf(above) % bound.modulus != 0)
      refuse("The new modulus " + modulus + " is not a factor of " + std::to_string(modulusOf(above)) +
             ", the modulus of existing partition \"" + nameOf(above) + "\".");
}

} // namespace

void requireFreeBound(CommandContext& context, const ::PartitionBoundSpec& spec, const catalog::Relation& parent,
                      const PartitionBound& bound, const std::string& name) {
   const catalog::Snapshot& snapshot = context.core.transaction.editor().snapshot();
   const auto partitions = snapshot.heirs(parent.oid);
   if (bound.isDefault) {
      const int existing = partitions ? partitions->map->defaultPartition() : catalog::PartitionMap::none;
      if (existing != catalog::PartitionMap::none)
         throw SqlError(sqlstate::invalidObjectDefinition,
                        "partition \"" + name + "\" conflicts with existing default partition \"" +
                            partitions->heirs[static_cast<size_t>(existing)].relation->name + "\"")
             .at(context.position(spec.location));
      return;
   }
   if (bound.strategy == PartitionStrategy::Range && tupleKey(bound.lower) >= tupleKey(bound.upper))
      throw SqlError(sqlstate::invalidObjectDefinition, "empty range bound specified for partition \"" + name + "\"")
          .at(context.position(sql::startLocation(ListOf<>(spec.lowerdatums)[0])))
          .detail("Specified lower bound " + boundText(bound.lower, parent, snapshot) +
                  " is greater than or equal to upper bound " + boundText(bound.upper, parent, snapshot) + ".");
   if (!partitions) return;
   if (bound.strategy == PartitionStrategy::Hash) requireModulus(*partitions, bound);
   const int other = partitions->map->overlapping(bound);
   if (other == catalog::PartitionMap::none) return;
   const catalog::Relation& existing = *partitions->heirs[static_cast<size_t>(other)].relation;
   throw SqlError(sqlstate::invalidObjectDefinition,
                  "partition \"" + name + "\" would overlap partition \"" + existing.name + "\"")
       .at(positionIn(context, spec, bound, *existing.bound));
}

void requireDefaultWithout(SessionCore& core, const catalog::Relation& parent, const PartitionBound& bound) {
   const catalog::Snapshot& snapshot = core.transaction.editor().snapshot();
   const auto partitions = snapshot.heirs(parent.oid);
   if (!partitions || bound.isDefault || partitions->map->defaultPartition() == catalog::PartitionMap::none) return;
   const catalog::Relation& other =
       *partitions->heirs[static_cast<size_t>(partitions->map->defaultPartition())].relation;
   core.transaction.lock(other.oid, LockMode::AccessExclusive);
   if (other.foreign)
      return core.warn(sqlstate::checkViolation, "skipped scanning foreign table \"" + other.name +
                                                     "\" which is a partition of default partition \"" + other.name +
                                                     "\"");
   catalog::Relation shown;
   shown.parents = {parent.oid};
   shown.bound = bound;
   const std::string inside = catalog::partitionConditionText(snapshot, parent, shown);
   const auto rows =
       runOnNewest(core, "SELECT 1 FROM " + quotedTable(snapshot, other) + " WHERE " + inside + " LIMIT 1");
   if (rows.empty()) return;
   throw SqlError(sqlstate::checkViolation, "updated partition constraint for default partition \"" + other.name +
                                                "\" would be violated by some row")
       .table(snapshot.schema(other.schema)->name, other.name);
}

} // namespace ouzel::engine
