#include <algorithm>
#include <map>

#include "catalog/object/search_path.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/pg_catalog/constraint/foreign_key_parts.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "catalog/pg_catalog/operator_classes.hpp"
#include "catalog/pg_catalog/producers.hpp"

// pg_class, pg_attribute, pg_index, pg_constraint, ...: computed from the relations of a snapshot.

namespace ouzel::catalog {

namespace {

constexpr Oid heapMethod = 2;
constexpr double pageBytes = 8192;

bool hasStorage(const Relation& relation) {
   if (relation.partitionKey) return false;
   if (relation.foreign) return false;
   return relation.relationKind == RelationKind::Table || relation.relationKind == RelationKind::MaterializedView ||
          relation.relationKind == RelationKind::Virtual;
}

std::vector<Oid> sorted(std::vector<Oid> list) {
   std::sort(list.begin(), list.end());
   return list;
}

bool contains(const std::vector<Oid>& sortedList, Oid oid) {
   return std::binary_search(sortedList.begin(), sortedList.end(), oid);
}

/// Relations with relhastriggers: psql asks for the foreign keys of these relations only. The lists are sorted.
std::vector<Oid> relationsWithForeignKeys(const Snapshot& snapshot) {
   std::vector<Oid> result;
   for (const RelationPtr& relation : snapshot.relations()) {
      for (const Constraint& constraint : relation->constraints)
         if (constraint.kind == ConstraintKind::ForeignKey) {
            result.push_back(relation->oid);
            result.push_back(constraint.foreignRelation);
         }
      const std::vector<Oid> partitions = partitionsReferenced(snapshot, *relation);
      result.insert(result.end(), partitions.begin(), partitions.end());
   }
   return sorted(std::move(result));
}

/// Partitioned indexes that have parts.
std::vector<Oid> indexesWithParts(const Snapshot& snapshot) {
   std::vector<Oid> result;
   for (const RelationPtr& relation : snapshot.relations())
      if (relation->index && relation->index->parentIndex != invalidOid) result.push_back(relation->index->parentIndex);
   return sorted(std::move(result));
}

void classRows(const SystemContext& context, RowBuilder& row) {
   const WantedRows* named = context.wants("relname");
   const std::vector<RelationPtr> relations =
       named != nullptr ? relationsNamed(context, named->names) : allRelations(context, "oid");
   // What needs a look at all relations is computed only if the scan reads it.
   const auto listed = [&](std::string_view column, const auto& list) {
      return row.wants(column) ? list(context.snapshot) : std::vector<Oid>();
   };
   const std::vector<Oid> withKeys = listed("relhastriggers", relationsWithForeignKeys);
   const std::vector<Oid> withParts = listed("relhassubclass", indexesWithParts);
   const bool wantsSize = row.wants("relpages") || row.wants("reltuples");
   for (const RelationPtr& r : relations) {
      double pages = 0, tuples = hasStorage(*r) || r->foreign ? -1 : 0;
      if (wantsSize && context.state != nullptr && r->storage != noStorage) {
         tuples = context.state->rowCount(r->storage);
         pages = static_cast<double>(context.state->bytes(r->storage)) / pageBytes;
      }
      const auto checks = std::count_if(r->constraints.begin(), r->constraints.end(),
                                        [](const Constraint& c) { return c.kind == ConstraintKind::Check; });
      row.oid(r->oid).text(r->name).oid(r->schema).oid(r->rowType).oid(r->ofType).oid(r->owner);
      row.oid(hasStorage(*r) ? heapMethod : r->index ? accessMethod(r->index->method) : invalidOid);
      row.oid(r->relationKind == RelationKind::View || r->foreign ? invalidOid : r->oid)
          .oid(invalidOid); // filenode, tablespace
      row.int4(static_cast<int64_t>(std::min(pages, 2147483647.0))).float4(tuples).int4(0).oid(invalidOid);
      row.boolean(context.snapshot.hasIndexes(r->oid)).boolean(false).letter(static_cast<char>(r->persistence));
      row.letter(r->relkind()).int2(static_cast<int64_t>(r->columns.size())).int2(checks);
      row.boolean(r->relkind() == 'v' || r->relkind() == 'm' || !r->rules.empty());
      row.boolean(contains(withKeys, r->oid) || !r->triggers.empty());
      row.boolean(context.snapshot.heirs(r->oid) != nullptr || contains(withParts, r->oid)).boolean(r->hasRowSecurity);
      row.boolean(r->forcesRowSecurity).boolean(r->isPopulated);
      row.letter((r->relkind() == 'r' || r->relkind() == 'p' || r->relkind() == 'm') && !r->isBuiltin()
                     ? r->replicaIdentity
                     : 'n');
      const bool isPart = r->isPartition() || (r->index && r->index->parentIndex != invalidOid);
      row.boolean(isPart).oid(invalidOid);
      row.oid(hasStorage(*r) ? 3 : 0).oid(hasStorage(*r) ? 1 : 0);
      row.acl(context.snapshot, isUserType(*r) ? Acl() : r->acl); // a type's list is in pg_type
      if (r->options.empty())
         row.null();
      else
         row.textArray(r->options);
      row.textOrNull(partitionBoundText(context.snapshot, *r)).emit();
   }
}

/// The columns that every relation with rows of its own has.
void systemAttributeRows(const Relation& relation, RowBuilder& row) {
   struct Attribute {
      const char* name;
      Oid type;
   };
   constexpr Attribute attributes[] = {{"ctid", oid::tid}, {"xmin", oid::xid}, {"cmin", oid::cid},
                                       {"xmax", oid::xid}, {"cmax", oid::cid}, {"tableoid", oid::oid}};
   for (int16_t number = -1; number >= -6; --number) {
      const Attribute& attribute = attributes[-number - 1];
      const TypeInfo& type = *builtins().type(attribute.type);
      row.oid(relation.oid).text(attribute.name).oid(attribute.type).int4(0).int2(type.length).int2(number);
      row.int4(0).int4(-1).int4(-1).boolean(type.byValue).letter(type.alignment).letter(type.storage).letter('\0');
      row.boolean(true).boolean(false).boolean(false).letter('\0').letter('\0').boolean(false).boolean(true).int4(0);
      row.oid(invalidOid).nulls(4).emit();
   }
}

/// The operator class of a key column; null: there is none.
const OperatorClassInfo* classOfKey(const Relation& index, size_t key) {
   const std::vector<Oid>& named = index.index->classes;
   if (key < named.size() && named[key] != invalidOid) return operatorClass(named[key]);
   return defaultOperatorClass(accessMethod(index.index->method), index.columns[key].type.oid);
}

/// The type that pg_attribute says a column has. A key column of an index has that of what PostgreSQL's index stores.
Oid shownType(const Relation& relation, const Column& column) {
   const auto key = static_cast<size_t>(column.attribute - 1);
   if (column.isDropped) return invalidOid;
   if (!relation.index || key >= relation.index->columns.size()) return column.type.named();
   if (relation.index->method == "hash") return oid::int4;
   const OperatorClassInfo* used = classOfKey(relation, key);
   const Oid stored = used ? storedKeyType(*used, column.type.oid) : column.type.oid;
   return stored == column.type.oid ? column.type.named() : stored;
}

void attributeRows(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : allRelations(context, "attrelid")) {
      for (const Column& c : r->columns) {
         const Oid shown = shownType(*r, c);
         const bool isStored = shown == invalidOid || shown == c.type.named();
         const TypeInfo* type = builtins().type(isStored ? c.type.oid : shown);
         // Statistics of an index are of its expressions: a column has those of its table.
         const bool ofTable = r->index && (c.attribute > static_cast<int64_t>(r->index->columns.size()) ||
                                           r->index->columns[static_cast<size_t>(c.attribute - 1)] != 0);
         row.oid(r->oid).text(c.name).oid(shown).int4(ofTable ? -1 : c.statisticsTarget);
         const bool isEnum = isEnumType(isStored ? c.type.oid : shown);
         row.int2(type != nullptr ? type->length : isEnum ? 4 : -1).int2(c.attribute).int4(c.dimensions).int4(-1);
         row.int4(c.type.domain ? -1 : c.type.typmod).boolean(type != nullptr ? type->byValue : isEnum);
         row.letter(type != nullptr ? type->alignment : 'i');
         row.letter(c.storage != '\0' && isStored ? c.storage : type != nullptr ? type->storage : isEnum ? 'p' : 'x');
         row.letter(c.compression).boolean(c.notNull).boolean(c.hasDefault()).boolean(false);
         row.letter(c.identity).letter(c.generated).boolean(c.isDropped).boolean(c.isLocal).int4(c.parentCount);
         row.oid(c.type.collation).acl(context.snapshot, c.acl);
         c.options.empty() ? row.null() : row.textArray(c.options);
         foreignOptions(row, c.foreignOptions);
         row.null().emit();
      }
      if (std::string_view("rpmtSf").find(r->relkind()) != std::string_view::npos) systemAttributeRows(*r, row);
   }
}

void attrdefRows(const SystemContext& context, RowBuilder& row) {
   const bool isShown = context.state != nullptr && row.wants("adbin");
   for (const RelationPtr& r : ownRelations(context, "adrelid"))
      for (const Column& c : r->columns) {
         if (!c.hasDefault() || r->isOnlyType()) continue;
         const std::string_view node = isShown ? context.state->nodeOfDefault(*r, c) : std::string_view();
         row.oid(c.defaultOid).oid(r->oid).int2(c.attribute).text(defaultText(c, node)).emit();
      }
}

void indexRows(const SystemContext& context, RowBuilder& row) {
   std::map<Oid, size_t> parts; // of each partitioned index
   for (const RelationPtr& r : row.wants("indisvalid") ? context.snapshot.relations() : std::vector<RelationPtr>())
      if (r->index && r->index->parentIndex != invalidOid) ++parts[r->index->parentIndex];
   const WantedRows* ofTable = context.wants("indrelid");
   const std::vector<RelationPtr> relations = ofTable != nullptr && ofTable->isOne()
                                                  ? context.snapshot.indexesOf(ofTable->lower)
                                                  : ownRelations(context, "indexrelid");
   for (const RelationPtr& r : relations) {
      if (!r->index) continue;
      const IndexDefinition& index = *r->index;
      std::vector<Oid> collations, classes;
      std::vector<int16_t> options;
      std::vector<int16_t> attributes = index.columns;
      attributes.insert(attributes.end(), index.included.begin(), index.included.end());
      for (size_t i = 0; i < index.columns.size() && i < r->columns.size(); ++i) {
         const OperatorClassInfo* used = classOfKey(*r, i);
         collations.push_back(r->columns[i].type.collation);
         classes.push_back(used ? used->oid : invalidOid);
      }
      for (const uint8_t option : index.options)
         options.push_back(option);
      const auto keys = static_cast<int64_t>(index.columns.size());
      bool isImmediate = true, isIdentity = false;
      if (const RelationPtr table = context.snapshot.relation(index.table)) {
         if (const Constraint* owner = table->constraintOf(r->oid)) isImmediate = !owner->isDeferrable;
         isIdentity = table->identityIndex == r->oid;
      }
      row.oid(r->oid)
          .oid(index.table)
          .int2(static_cast<int64_t>(attributes.size()))
          .int2(keys)
          .boolean(index.isUnique)
          .boolean(index.nullsNotDistinct);
      row.boolean(index.isPrimary).boolean(!index.operators.empty()).boolean(isImmediate).boolean(index.isClustered);
      // One that a partition lacks is not yet used.
      row.boolean(!index.isPartitioned || parts[r->oid] >= context.snapshot.heirOids(index.table).size());
      row.boolean(false);
      row.boolean(true).boolean(true).boolean(isIdentity).int2Vector(attributes).oidVector(collations);
      row.oidVector(classes).int2Vector(options);
      std::string expressions;
      for (const std::string& expression : index.expressions)
         expressions += (expressions.empty() ? "" : ", ") + expression;
      row.textOrNull(expressions).textOrNull(index.predicate);
      row.emit();
   }
}

std::vector<Oid> equalityOperators(const Relation& relation, const std::vector<int16_t>& attributes) {
   std::vector<Oid> operators;
   for (const int16_t attribute : attributes) {
      const Column* column = relation.column(attribute);
      const OperatorInfo* op = column != nullptr ? builtins().equalityOperator(column->type.oid) : nullptr;
      operators.push_back(op != nullptr ? op->oid : invalidOid);
   }
   return operators;
}

void constraintRow(const SystemContext& context, const Relation& r, const Constraint& c, bool noInherit,
                   RowBuilder& row) {
   const bool isForeign = c.kind == ConstraintKind::ForeignKey;
   row.oid(c.oid).text(c.name).oid(r.schema).letter(static_cast<char>(c.kind)).boolean(c.isDeferrable);
   row.boolean(c.isInitiallyDeferred).boolean(c.isValidated).oid(r.isOnlyType() ? invalidOid : r.oid);
   row.oid(r.isOnlyType() ? r.rowType : invalidOid);
   row.oid(isForeign ? c.referencedIndex : c.index).oid(c.parentConstraint).oid(c.foreignRelation);
   row.letter(isForeign ? c.onUpdate : ' ').letter(isForeign ? c.onDelete : ' ');
   row.letter(isForeign ? c.match : ' ').boolean(c.isLocal).int4(c.parentCount).boolean(noInherit);
   if (r.isOnlyType())
      row.null();
   else
      row.int2Array(c.columns);
   if (isForeign) {
      const std::vector<Oid> operators = equalityOperators(r, c.columns);
      row.int2Array(c.foreignColumns).oidArray(operators).oidArray(operators).oidArray(operators);
   } else {
      row.nulls(4);
   }
   const RelationPtr owned = c.kind == ConstraintKind::Exclusion ? context.snapshot.relation(c.index) : nullptr;
   if (c.setColumns.empty())
      row.null();
   else
      row.int2Array(c.setColumns);
   if (owned && owned->index)
      row.oidArray(owned->index->operators);
   else
      row.null();
   row.textOrNull(c.expression);
   row.emit();
}

void constraintRows(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : ownRelations(context, "conrelid")) {
      for (const Constraint& c : r->constraints) {
         const bool isAlone = c.kind != ConstraintKind::Check && !r->partitionKey && !r->isPartition();
         constraintRow(context, *r, c, c.noInherit || isAlone, row);
      }
      for (const Constraint& part : foreignKeyParts(context.snapshot, *r))
         constraintRow(context, *r, part, false, row);
      constraintTriggerRows(*r, row);
   }
}

bool isView(const Relation& relation) {
   return relation.relationKind == RelationKind::View || relation.relationKind == RelationKind::MaterializedView;
}

void rewriteRows(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : ownRelations(context, "ev_class")) {
      if (isView(*r))
         row.oid(viewRuleOf(r->oid))
             .text("_RETURN")
             .oid(r->oid)
             .letter('1')
             .letter('O')
             .boolean(true)
             .text("<>")
             .text(r->definition)
             .emit();
      for (const Rule& rule : r->rules) {
         row.oid(rule.oid).text(rule.name).oid(r->oid).letter(static_cast<char>(rule.event)).letter(rule.enabled);
         row.boolean(rule.isInstead).text(rule.condition.empty() ? "<>" : rule.condition);
         std::string actions;
         for (const std::string& action : rule.actions)
            actions += (actions.empty() ? "" : ";") + action;
         row.text(actions.empty() ? "<>" : actions).emit();
      }
   }
}

void policyRows(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : ownRelations(context, "polrelid"))
      for (const Policy& policy : r->policies) {
         row.oid(policy.oid)
             .text(policy.name)
             .oid(r->oid)
             .letter(static_cast<char>(policy.command))
             .boolean(policy.isPermissive);
         row.oidArray(policy.roles).textOrNull(policy.usingExpr).textOrNull(policy.checkExpr).emit();
      }
}

void sequenceRows(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : ownRelations(context, "seqrelid")) {
      if (!r->sequence) continue;
      const SequenceDefinition& s = *r->sequence;
      row.oid(r->oid).oid(s.type.oid).int8(s.start).int8(s.increment).int8(s.maximum).int8(s.minimum).int8(s.cache);
      row.boolean(s.cycles).emit();
   }
}

void inheritRows(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : ownRelations(context, "inhrelid")) {
      for (size_t i = 0; i < r->parents.size(); ++i)
         row.oid(r->oid).oid(r->parents[i]).int4(static_cast<int64_t>(i + 1)).boolean(false).emit();
      if (r->index && r->index->parentIndex != invalidOid)
         row.oid(r->oid).oid(r->index->parentIndex).int4(1).boolean(false).emit();
   }
}

void partitionedTableRows(const SystemContext& context, RowBuilder& row) {
   for (const RelationPtr& r : ownRelations(context, "partrelid")) {
      if (!r->partitionKey) continue;
      const auto partitions = context.snapshot.heirs(r->oid);
      const int other = partitions ? partitions->map->defaultPartition() : PartitionMap::none;
      std::vector<Oid> classes;
      const std::vector<SqlType> types = partitionKeyTypes(*r);
      const Oid method = accessMethod(r->partitionKey->strategy == PartitionStrategy::Hash ? "hash" : "btree");
      for (size_t i = 0; i < types.size(); ++i) {
         const auto& named = r->partitionKey->classes;
         const OperatorClassInfo* usual = defaultOperatorClass(method, types[i].oid);
         classes.push_back(i < named.size() && named[i] != invalidOid ? named[i] : usual ? usual->oid : invalidOid);
      }
      std::string expressions;
      for (const std::string& expression : r->partitionKey->expressions)
         expressions += (expressions.empty() ? "" : ", ") + expression;
      row.oid(r->oid).letter(static_cast<char>(r->partitionKey->strategy));
      row.int2(static_cast<int64_t>(r->partitionKey->columns.size()));
      row.oid(other == PartitionMap::none ? invalidOid : partitions->heirs[static_cast<size_t>(other)].relation->oid);
      row.int2Vector(r->partitionKey->columns).oidVector(classes).oidVector(r->partitionKey->collations);
      row.textOrNull(expressions).emit();
   }
}

constexpr NamedProducer tables[] = {
    {"pg_class", classRows},           {"pg_attribute", attributeRows},
    {"pg_attrdef", attrdefRows},       {"pg_index", indexRows},
    {"pg_constraint", constraintRows}, {"pg_rewrite", rewriteRows},
    {"pg_sequence", sequenceRows},     {"pg_policy", policyRows},
    {"pg_inherits", inheritRows},      {"pg_partitioned_table", partitionedTableRows},
};

} // namespace

std::span<const NamedProducer> relationProducers() {
   return tables;
}

} // namespace ouzel::catalog
