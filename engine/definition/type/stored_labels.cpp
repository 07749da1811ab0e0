#include "engine/definition/type/stored_labels.hpp"

#include <algorithm>

#include "common/type/enum_labels.hpp"
#include "common/type/text_codec.hpp"
#include "engine/definition/type/user_type.hpp"
#include "sql/bind/relabel.hpp"

namespace ouzel::engine {

namespace {

/// The types as they are, but for the labels of one enum.
class WithLabels final : public UserTypes {
public:
   WithLabels(const UserTypes& base, Oid type, EnumLabelsPtr labels)
      : base_(base), type_(type), labels_(std::move(labels)) {}
   RowFields rowFields(Oid type) const override { return base_.rowFields(type); }
   EnumLabelsPtr enumLabels(Oid type) const override { return type == type_ ? labels_ : base_.enumLabels(type); }
   std::string objectName(Oid regType, Oid object) const override { return base_.objectName(regType, object); }
   Oid objectNamed(Oid regType, std::string_view name) const override { return base_.objectNamed(regType, name); }
   void checkDomain(Oid domain, const Vector& values, const Selection& rows) const override {
      base_.checkDomain(domain, values, rows);
   }

private:
   const UserTypes& base_;
   const Oid type_;
   const EnumLabelsPtr labels_;
};

/// Writes new texts into copies of relations.
class Relabelling {
public:
   Relabelling(SessionCore& core, std::string_view label, sql::LiteralText textFor)
      : path_(core.searchPath()), context_(core.bindContext(path_, nullptr)), label_(label),
        textFor_(std::move(textFor)) {}

   /// Whether a text of the relation has changed.
   bool change(catalog::Relation& relation) const;

private:
   /// A label may be written with escapes, or with its quotes doubled.
   bool mayName(std::string_view text) const {
      return label_.find('\'') != std::string_view::npos || text.find(label_) != std::string_view::npos ||
             text.find('\\') != std::string_view::npos;
   }
   template <typename Relabel>
   bool change(std::string& text, const Relabel& relabel) const {
      if (text.empty() || !mayName(text)) return false;
      std::string changed = relabel();
      if (changed == text) return false;
      text = std::move(changed);
      return true;
   }
   bool change(std::string& text, sql::ExpressionUse use, const catalog::Relation* table,
               std::optional<SqlType> target = std::nullopt) const {
      return change(text, [&] { return sql::relabelExpression(text, use, table, target, textFor_, context_); });
   }

   const catalog::SearchPath path_;
   const sql::BindContext context_;
   const std::string_view label_;
   const sql::LiteralText textFor_;
};

bool Relabelling::change(catalog::Relation& relation) const {
   using sql::ExpressionUse;
   const catalog::Relation before = relation;
   bool isChanged =
       change(relation.definition, [&] { return sql::relabelView(relation.definition, textFor_, context_); });
   for (catalog::Constraint& constraint : relation.constraints)
      isChanged |= change(constraint.expression, ExpressionUse::CheckConstraint, &before);
   for (catalog::Column& column : relation.columns) {
      if (column.isDropped || column.defaultSequence != invalidOid) continue;
      if (column.generated)
         isChanged |= change(column.defaultExpr, ExpressionUse::GeneratedColumn, &before, column.type);
      else
         isChanged |= change(column.defaultExpr, ExpressionUse::ColumnDefault, nullptr, withoutDomain(column.type));
   }
   if (relation.index) {
      const catalog::RelationPtr table = context_.catalog.relation(relation.index->table);
      for (std::string& expression : relation.index->expressions)
         isChanged |= change(expression, ExpressionUse::IndexExpression, table.get());
      isChanged |= change(relation.index->predicate, ExpressionUse::IndexPredicate, table.get());
   }
   if (relation.partitionKey)
      for (std::string& expression : relation.partitionKey->expressions)
         isChanged |= change(expression, ExpressionUse::PartitionKey, &before);
   for (catalog::Policy& policy : relation.policies)
      for (std::string* text : {&policy.usingExpr, &policy.checkExpr})
         isChanged |=
             change(*text, [&] { return sql::relabelPolicy(*text, before, policy.tableName, textFor_, context_); });
   return isChanged;
}

} // namespace

StoredLabels::StoredLabels(SessionCore& core, const catalog::Relation& type, std::string_view label,
                           const EnumLabelsPtr& renamed) {
   const catalog::Snapshot snapshot = core.transaction.catalog();
   const SessionFormat now = core.format();
   const WithLabels types(*now.types, type.rowType, renamed);
   SessionFormat then = now;
   then.types = &types;
   const Relabelling relabelling(core, label, [&](const SqlType& literal, const Value& value) -> std::string {
      if (value.isNull || !isMadeOf(snapshot, literal, type)) return {};
      std::string text = textOf(literal, value, then);
      return text == textOf(literal, value, now) ? std::string() : text;
   });
   for (const catalog::RelationPtr& relation : snapshot.relations()) {
      catalog::Relation copy = *relation;
      if (relabelling.change(copy)) changed_.push_back(std::move(copy));
   }
}

void StoredLabels::put(SessionCore& core) const {
   for (const catalog::Relation& relation : changed_)
      core.transaction.editor().replaceRelation(relation);
}

} // namespace ouzel::engine
