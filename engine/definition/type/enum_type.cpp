#include <algorithm>

#include "catalog/pg_catalog/functions.hpp"
#include "common/type/enum_labels.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/change_system_object.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/type/stored_labels.hpp"
#include "engine/definition/type/user_type.hpp"
#include "sql/parse/node_access.hpp"

// CREATE TYPE ... AS ENUM, ALTER TYPE ... ADD VALUE and RENAME VALUE. The labels are in the catalog, their codes in
// tables (common/type/enum_labels.hpp).

namespace ouzel::engine {

using sql::ListOf;
using sql::stringOf;

namespace {

constexpr size_t labelBytesMax = 63;

void checkLabel(std::string_view label) {
   if (label.size() > labelBytesMax)
      throw SqlError(sqlstate::invalidName, "invalid enum label \"" + std::string(label) + "\"")
          .detail("Labels must be " + std::to_string(labelBytesMax) + " bytes or less.");
}

void checkCount(size_t count) {
   if (count > EnumLabels::countMax)
      throw SqlError(sqlstate::programLimitExceeded,
                     "enum types can have at most " + std::to_string(EnumLabels::countMax) + " labels");
}

/// The enum type that ALTER TYPE names, locked.
catalog::RelationPtr requireEnum(CommandContext& context, const ::List* name) {
   SessionCore& core = context.core;
   const auto* node = reinterpret_cast<const ::Node*>(name);
   const auto found = findUserType(context, node);
   if (!found) {
      const SystemObject other = findSystemObject(core, OBJECT_TYPE, node);
      if (other.missing) throw SqlError(*other.missing);
      throw SqlError(sqlstate::wrongObjectType,
                     catalog::formatType({core.transaction.catalog(), core.searchPath()}, other.oid, std::nullopt) +
                         " is not an enum");
   }
   requireDefined(*found, node);
   if (!found->labels)
      throw SqlError(sqlstate::wrongObjectType,
                     catalog::displayName(core.transaction.catalog(), core.searchPath(), *found) + " is not an enum");
   requireOwner(core, *found);
   core.transaction.lock(found->oid, LockMode::AccessExclusive);
   core.transaction.startCommand(); // another transaction may have added a label while this one waited
   auto current = core.transaction.catalog().relation(found->oid);
   if (!current) throw SqlError(sqlstate::undefinedObject, "type \"" + found->name + "\" does not exist");
   return current;
}

/// Whether the label is one of these. Throws 42710, unless that is no error.
bool exists(SessionCore& core, const EnumLabels& labels, const std::string& label, bool mayExist) {
   if (!labels.find(label)) return false;
   const std::string problem = "enum label \"" + label + "\" already exists";
   if (!mayExist) throw SqlError(sqlstate::duplicateObject, problem);
   core.notice(problem + ", skipping", {}, sqlstate::duplicateObject);
   return true;
}

size_t positionOf(const EnumLabels& labels, std::string_view name) {
   const EnumLabel* found = labels.find(name);
   if (!found)
      throw SqlError(sqlstate::invalidParameterValue, "\"" + std::string(name) + "\" is not an existing enum label");
   return static_cast<size_t>(found - labels.inOrder().data());
}

/// pg_enum.enumsortorder of a label before labels[position]. Where no number is left between its neighbours, all get
/// whole numbers.
float sortOrderAt(std::vector<EnumLabel>& labels, size_t position) {
   if (labels.empty()) return 1;
   if (position == labels.size()) return labels.back().sortOrder + 1;
   if (position == 0) return labels.front().sortOrder - 1;
   const auto middle = [&] { return (labels[position - 1].sortOrder + labels[position].sortOrder) / 2; };
   const float order = middle();
   if (order != labels[position - 1].sortOrder && order != labels[position].sortOrder) return order;
   for (size_t i = 0; i < labels.size(); ++i)
      labels[i].sortOrder = static_cast<float>(i + 1);
   return middle();
}

void replaceLabels(SessionCore& core, const catalog::Relation& type, EnumLabelsPtr labels) {
   catalog::Relation changed = type;
   changed.labels = std::move(labels);
   core.transaction.editor().replaceRelation(std::move(changed));
}

void addValue(CommandContext& context, const catalog::Relation& type, const ::AlterEnumStmt& statement) {
   SessionCore& core = context.core;
   EnumLabel added;
   added.name = statement.newVal;
   added.isAdded = true;
   checkLabel(added.name);
   if (exists(core, *type.labels, added.name, statement.skipIfNewValExists)) return;
   std::vector<EnumLabel> labels = type.labels->inOrder();
   checkCount(labels.size() + 1);
   size_t position = labels.size();
   if (statement.newValNeighbor)
      position = positionOf(*type.labels, statement.newValNeighbor) + (statement.newValIsAfter ? 1 : 0);
   added.sortOrder = sortOrderAt(labels, position);
   added.oid = core.transaction.editor().allocateOid();
   added.code = EnumLabels::codeBetween(position > 0 ? &labels[position - 1] : nullptr,
                                        position < labels.size() ? &labels[position] : nullptr);
   labels.insert(labels.begin() + static_cast<std::ptrdiff_t>(position), std::move(added));
   replaceLabels(core, type, std::make_shared<const EnumLabels>(std::move(labels)));
}

void renameValue(CommandContext& context, const catalog::Relation& type, const ::AlterEnumStmt& statement) {
   SessionCore& core = context.core;
   checkLabel(statement.newVal);
   const size_t position = positionOf(*type.labels, statement.oldVal);
   exists(core, *type.labels, statement.newVal, false);
   std::vector<EnumLabel> labels = type.labels->inOrder();
   labels[position].name = statement.newVal;
   const auto renamed = std::make_shared<const EnumLabels>(std::move(labels));
   const StoredLabels texts(core, type, statement.oldVal, renamed);
   replaceLabels(core, type, renamed);
   texts.put(core);
}

} // namespace

std::string createEnum(CommandContext& context, const ::CreateEnumStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE TYPE");
   const NewRelation target = newType(context, statement.typeName);
   requireNewType(core, target.schema, target.name.name);
   catalog::Relation draft;
   draft.name = target.name.name;
   draft.schema = target.schema;
   draft.persistence = target.persistence();
   draft.relationKind = catalog::RelationKind::Enum;
   catalog::CatalogEditor& editor = core.transaction.editor();
   const ListOf<> values(statement.vals);
   checkCount(values.size());
   draft.rowType = editor.allocateTypeOid(draft.schema, draft.name) | userEnumKind;
   draft.rowTypeArray = arrayTypeOf(draft.rowType);
   std::vector<EnumLabel> labels;
   labels.reserve(values.size());
   for (const ::Node* value : values) {
      EnumLabel label;
      label.name = stringOf(value);
      checkLabel(label.name);
      label.code = static_cast<int64_t>(labels.size()) * EnumLabels::gap;
      label.sortOrder = static_cast<float>(labels.size() + 1);
      label.oid = editor.allocateOid();
      labels.push_back(std::move(label));
   }
   draft.labels = std::make_shared<const EnumLabels>(std::move(labels));
   for (const EnumLabel& label : draft.labels->inOrder())
      if (draft.labels->find(label.name) != &label)
         throw SqlError(sqlstate::uniqueViolation,
                        "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"")
             .detail("Key (enumtypid, enumlabel)=(" + std::to_string(draft.rowType) + ", " + label.name +
                     ") already exists.");
   editor.createRelation(std::move(draft));
   return "CREATE TYPE";
}

std::string alterEnum(CommandContext& context, const ::AlterEnumStmt& statement) {
   requireWritable(context.core, "ALTER TYPE");
   const auto type = requireEnum(context, statement.typeName);
   if (statement.oldVal)
      renameValue(context, *type, statement);
   else
      addValue(context, *type, statement);
   return "ALTER TYPE";
}

} // namespace ouzel::engine
