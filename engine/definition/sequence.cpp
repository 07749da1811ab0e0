#include "engine/definition/sequence.hpp"

#include <charconv>
#include <optional>

#include "engine/core/privileges.hpp"
#include "engine/definition/new_relation.hpp"
#include "sql/parse/node_access.hpp"

// CREATE and ALTER SEQUENCE, and the sequences behind serial and identity columns. A sequence's definition is a catalog
// object and transactional; its current value is in engine/core/sequence_values.hpp and is not transactional, except
// for what RESTART has set.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;
using sql::textOf;

namespace {

int64_t integerOf(const ::DefElem& option) {
   if (option.arg && isNode(option.arg, T_Integer)) return as<::Integer>(option.arg)->ival;
   const std::string_view text = option.arg && isNode(option.arg, T_Float) ? as<::Float>(option.arg)->fval : "";
   int64_t value = 0;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
   if (text.empty() || error != std::errc() || end != text.data() + text.size())
      throw SqlError(sqlstate::invalidTextRepresentation,
                     "invalid input syntax for type bigint: \"" + std::string(text) + "\"");
   return value;
}

struct TypeRange {
   int64_t minimum, maximum;
};
TypeRange rangeOf(Oid type) {
   if (type == oid::int2) return {INT16_MIN, INT16_MAX};
   if (type == oid::int4) return {INT32_MIN, INT32_MAX};
   return {INT64_MIN, INT64_MAX};
}

[[noreturn]] void invalid(const std::string& message) {
   throw SqlError(sqlstate::invalidParameterValue, message);
}

/// The options of one statement, each at most once.
class SequenceOptions {
public:
   SequenceOptions(CommandContext& context, const ::List* list) {
      for (const ::DefElem* option : ListOf<::DefElem>(list))
         add(context, option);
   }
   SequenceOptions(CommandContext& context, std::span<const ::DefElem* const> list) {
      for (const ::DefElem* option : list)
         add(context, option);
   }
   const ::DefElem *type = nullptr, *increment = nullptr, *start = nullptr, *restart = nullptr, *maximum = nullptr,
                   *minimum = nullptr, *cache = nullptr, *cycle = nullptr, *ownedBy = nullptr, *sequenceName = nullptr;

private:
   void add(CommandContext& context, const ::DefElem* option) {
      const std::string_view name = textOf(option->defname);
      const ::DefElem** slot = name == "as"              ? &type
                               : name == "increment"     ? &increment
                               : name == "start"         ? &start
                               : name == "restart"       ? &restart
                               : name == "maxvalue"      ? &maximum
                               : name == "minvalue"      ? &minimum
                               : name == "cache"         ? &cache
                               : name == "cycle"         ? &cycle
                               : name == "owned_by"      ? &ownedBy
                               : name == "sequence_name" ? &sequenceName
                                                         : nullptr;
      if (!slot) throwNotSupported("sequence option " + std::string(name), context.position(option->location));
      if (*slot)
         throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
             .at(context.position(option->location));
      *slot = option;
   }
};

std::string number(int64_t value) {
   return std::to_string(value);
}

/// Bounds of an ascending or descending sequence, as given or by default.
void applyBounds(catalog::SequenceDefinition& d, const SequenceOptions& options, const TypeRange& old, bool isNew) {
   const TypeRange range = rangeOf(d.type.oid);
   // A bound that is the old type's follows the new type.
   const bool typeChanged = !isNew && options.type;
   const bool movesMaximum = typeChanged && d.maximum == old.maximum;
   const bool movesMinimum = typeChanged && d.minimum == old.minimum;
   if (options.maximum && options.maximum->arg) {
      d.maximum = integerOf(*options.maximum);
   } else if (isNew || options.maximum || movesMaximum) {
      d.maximum = d.increment > 0 || movesMaximum ? range.maximum : -1;
   }
   if (d.maximum > range.maximum || d.maximum < range.minimum)
      invalid("MAXVALUE (" + number(d.maximum) + ") is out of range for sequence data type " + formatType(d.type));
   if (options.minimum && options.minimum->arg) {
      d.minimum = integerOf(*options.minimum);
   } else if (isNew || options.minimum || movesMinimum) {
      d.minimum = d.increment > 0 && !movesMinimum ? 1 : range.minimum;
   }
   if (d.minimum > range.maximum || d.minimum < range.minimum)
      invalid("MINVALUE (" + number(d.minimum) + ") is out of range for sequence data type " + formatType(d.type));
   if (d.minimum >= d.maximum)
      invalid("MINVALUE (" + number(d.minimum) + ") must be less than MAXVALUE (" + number(d.maximum) + ")");
}

void requireWithin(const catalog::SequenceDefinition& d, const char* what, int64_t value) {
   if (value < d.minimum)
      invalid(std::string(what) + " value (" + number(value) + ") cannot be less than MINVALUE (" + number(d.minimum) +
              ")");
   if (value > d.maximum)
      invalid(std::string(what) + " value (" + number(value) + ") cannot be greater than MAXVALUE (" +
              number(d.maximum) + ")");
}

void applyOptions(CommandContext& context, catalog::SequenceDefinition& d, const SequenceOptions& options, bool isNew) {
   const TypeRange old = rangeOf(d.type.oid);
   if (options.type) {
      const catalog::SearchPath path = context.core.searchPath();
      d.type =
          sql::resolveTypeName(*as<::TypeName>(options.type->arg), context.core.bindContext(path, &context.source()));
   }
   if (d.type.oid != oid::int2 && d.type.oid != oid::int4 && d.type.oid != oid::int8)
      invalid(d.isIdentity ? "identity column type must be smallint, integer, or bigint"
                           : "sequence type must be smallint, integer, or bigint");
   if (options.increment) d.increment = integerOf(*options.increment);
   if (d.increment == 0) invalid("INCREMENT must not be zero");
   if (options.cycle) d.cycles = as<::Boolean>(options.cycle->arg)->boolval;
   applyBounds(d, options, old, isNew);
   if (options.start)
      d.start = integerOf(*options.start);
   else if (isNew)
      d.start = d.increment > 0 ? d.minimum : d.maximum;
   requireWithin(d, "START", d.start);
   if (options.cache) d.cache = integerOf(*options.cache);
   if (d.cache <= 0) invalid("CACHE (" + number(d.cache) + ") must be greater than zero");
}

void applyOwner(CommandContext& context, catalog::Relation& sequence, const ::List* names) {
   catalog::SequenceDefinition& d = *sequence.sequence;
   const ListOf<> parts(names);
   if (d.isIdentity && d.ownerRelation != invalidOid)
      throw SqlError(sqlstate::featureNotSupported, "cannot change ownership of identity sequence")
          .detail("Sequence \"" + sequence.name + "\" is linked to table \"" +
                  context.core.transaction.catalog().relation(d.ownerRelation)->name + "\".");
   if (parts.size() == 1) {
      if (stringOf(parts[0]) != "none")
         throw SqlError(sqlstate::syntaxError, "invalid OWNED BY option")
             .hint("Specify OWNED BY table.column or OWNED BY NONE.");
      d.ownerRelation = invalidOid;
      d.ownerAttribute = 0;
      return;
   }
   std::vector<std::string> name;
   for (uint32_t i = 0; i + 1 < parts.size(); ++i)
      name.emplace_back(stringOf(parts[i]));
   const catalog::SearchPath path = context.core.searchPath();
   const auto table =
       catalog::requireRelation(context.core.transaction.catalog(), path, catalog::toQualifiedName(std::move(name)));
   if (table->relationKind != catalog::RelationKind::Table)
      throw SqlError(sqlstate::wrongObjectType, "sequence cannot be owned by relation \"" + table->name + "\"");
   const bool isNew = context.core.transaction.catalog().relation(sequence.oid) == nullptr;
   const Oid owner = isNew ? context.core.role() : sequence.owner;
   if (table->owner != owner)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "sequence must have same owner as table it is linked to");
   if (table->schema != sequence.schema)
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     "sequence must be in same schema as table it is linked to");
   const catalog::Column* column = table->findColumn(stringOf(parts.back()));
   if (!column)
      throw SqlError(sqlstate::undefinedColumn, "column \"" + std::string(stringOf(parts.back())) +
                                                    "\" of relation \"" + table->name + "\" does not exist");
   d.ownerRelation = table->oid;
   d.ownerAttribute = column->attribute;
}

/// Columns and the query that reading the sequence as a table shows.
void makeReadable(catalog::Relation& sequence) {
   const struct {
      const char* name;
      Oid type;
   } columns[] = {{"last_value", oid::int8}, {"log_cnt", oid::int8}, {"is_called", oid::boolean}};
   for (const auto& [name, type] : columns) {
      catalog::Column column;
      column.name = name;
      column.type = {type, -1, invalidOid};
      column.notNull = true;
      sequence.columns.push_back(std::move(column));
   }
   sequence.definition =
       "SELECT value, 0::pg_catalog.int8, is_called FROM pg_catalog.ouzel_sequence_values WHERE seqrelid = " +
       std::to_string(sequence.oid);
}

catalog::Relation draftSequence(CommandContext& context, std::string name, Oid schema,
                                catalog::Persistence persistence) {
   catalog::Relation draft;
   draft.oid = context.core.transaction.editor().allocateOid();
   draft.name = std::move(name);
   draft.schema = schema;
   draft.database = context.core.transaction.catalog().database();
   draft.relationKind = catalog::RelationKind::Sequence;
   draft.persistence = persistence;
   draft.sequence.emplace();
   makeReadable(draft);
   return draft;
}

} // namespace

std::string createSequence(CommandContext& context, const ::CreateSeqStmt& statement) {
   requireWritable(context.core, "CREATE SEQUENCE");
   const NewRelation target = newRelation(context, *statement.sequence);
   if (skipsExisting(context, target, statement.if_not_exists)) return "CREATE SEQUENCE";
   catalog::Relation draft = draftSequence(context, target.name.name, target.schema, target.persistence());
   const SequenceOptions options(context, statement.options);
   applyOptions(context, *draft.sequence, options, true);
   if (options.ownedBy) applyOwner(context, draft, as<::List>(options.ownedBy->arg));
   context.core.transaction.editor().createRelation(std::move(draft));
   return "CREATE SEQUENCE";
}

std::string alterSequence(CommandContext& context, const ::AlterSeqStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "ALTER SEQUENCE");
   const catalog::SearchPath path = core.searchPath();
   // PostgreSQL gives no position here.
   const catalog::QualifiedName name = sql::qualifiedName(*statement.sequence, core.bindContext(path, nullptr));
   const auto found = catalog::findRelation(core.transaction.catalog(), path, name);
   if (!found && statement.missing_ok) {
      core.notice("relation \"" + name.name + "\" does not exist, skipping");
      return "ALTER SEQUENCE";
   }
   const auto relation = found ? found : requireTarget(context, path, *statement.sequence);
   if (!relation->sequence) throw SqlError(sqlstate::wrongObjectType, "\"" + relation->name + "\" is not a sequence");
   requireOwner(core, *relation);
   std::vector<const ::DefElem*> options;
   for (const ::DefElem* option : ListOf<::DefElem>(statement.options))
      options.push_back(option);
   changeSequence(context, *relation, options);
   return "ALTER SEQUENCE";
}

void changeSequence(CommandContext& context, const catalog::Relation& sequence,
                    std::span<const ::DefElem* const> list) {
   SessionCore& core = context.core;
   core.transaction.lock(sequence.oid, LockMode::AccessExclusive);
   catalog::Relation changed = *core.transaction.catalog().relation(sequence.oid);
   const SequenceOptions options(context, list);
   applyOptions(context, *changed.sequence, options, false);
   if (options.ownedBy) applyOwner(context, changed, as<::List>(options.ownedBy->arg));
   const auto restarted = core.transaction.restartedSequences.current(sequence.oid);
   storage::Counter counter = restarted ? *restarted : core.database.sequences->current(sequence);
   if (options.restart) counter = {options.restart->arg ? integerOf(*options.restart) : changed.sequence->start, false};
   requireWithin(*changed.sequence, "RESTART", counter.value);
   const Oid oid = changed.oid;
   core.transaction.editor().replaceRelation(std::move(changed));
   if (options.restart || restarted) return core.transaction.restartedSequences.restart(oid, counter);
   core.database.sequences->logAnew(sequence);
   core.transaction.usesCounters();
}

Oid serialType(const ::TypeName& name) {
   const ListOf<> parts(name.names);
   if (parts.size() != 1) return invalidOid;
   const std::string_view word = stringOf(parts[0]);
   if (word == "serial" || word == "serial4") return oid::int4;
   if (word == "bigserial" || word == "serial8") return oid::int8;
   if (word == "smallserial" || word == "serial2") return oid::int2;
   return invalidOid;
}

void attachSequence(CommandContext& context, const catalog::Relation& table, catalog::Column& column, Oid type,
                    const ::List* list) {
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   const SequenceOptions options(context, list);
   std::string name = editor.chooseName(table.name, column.name, "seq", table.schema);
   if (options.sequenceName) name = stringOf(ListOf<>(as<::List>(options.sequenceName->arg)).back());
   const char* command = sql::isNode(context.statement.node, T_CreateStmt) ? "CREATE TABLE" : "ALTER TABLE";
   context.core.report({Notice::Severity::Debug,
                        sqlstate::successfulCompletion,
                        std::string(command) + " will create implicit sequence \"" + name + "\" for serial column \"" +
                            table.name + "." + column.name + "\"",
                        {},
                        {}});
   catalog::Relation draft = draftSequence(context, std::move(name), table.schema, table.persistence);
   draft.sequence->type = {type, -1, invalidOid};
   draft.sequence->isIdentity = column.identity != '\0';
   draft.sequence->ownerRelation = table.oid;
   draft.sequence->ownerAttribute = column.attribute;
   applyOptions(context, *draft.sequence, options, true);
   column.defaultSequence = draft.oid;
   if (!column.identity) column.defaultExpr = "nextval('" + draft.name + "'::regclass)";
   editor.createRelation(std::move(draft));
}

void attachSequence(CommandContext& context, const catalog::Relation& table, catalog::Column& column,
                    const catalog::SequenceDefinition& definition) {
   catalog::CatalogEditor& editor = context.core.transaction.editor();
   catalog::Relation draft = draftSequence(context, editor.chooseName(table.name, column.name, "seq", table.schema),
                                           table.schema, table.persistence);
   draft.sequence = definition;
   draft.sequence->ownerRelation = table.oid;
   draft.sequence->ownerAttribute = column.attribute;
   column.defaultSequence = draft.oid;
   editor.createRelation(std::move(draft));
}

void restartOwnedSequences(SessionCore& core, const catalog::Relation& table) {
   for (const auto& relation : core.transaction.catalog().relations())
      if (relation->sequence && relation->sequence->ownerRelation == table.oid) {
         requireOwner(core, *relation);
         core.transaction.lock(relation->oid, LockMode::AccessExclusive);
         core.transaction.restartedSequences.restart(relation->oid, {relation->sequence->start, false});
      }
}

} // namespace ouzel::engine
