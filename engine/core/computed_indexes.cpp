#include "engine/core/computed_indexes.hpp"

#include <algorithm>

#include "catalog/object/collation.hpp"
#include "catalog/object/search_path.hpp"
#include "common/type/session_format.hpp"
#include "executor/expression/program.hpp"
#include "optimizer/query/expr_lowering.hpp"
#include "sql/algebra/build.hpp"
#include "sql/algebra/collations.hpp"
#include "sql/bind/binder.hpp"

namespace ouzel::engine {

namespace {

/// With more indexes than this, a session forgets those that it knows.
constexpr size_t knownMax = 1000;

/// The key of one index, as a program over the columns that it reads. Its functions are immutable, so no setting of
/// the session changes a key.
class ProgramKey final : public storage::ComputedKey {
public:
   struct Context {
      catalog::Snapshot snapshot;
      executor::SessionFunctions* functions;
      const UserTypes* types;
      MemoryLedger& memory;
   };
   /// `program`: the key's columns and, if `hasPredicate`, the predicate.
   ProgramKey(std::string text, std::vector<uint32_t> inputs, std::vector<SqlType> types,
              std::shared_ptr<const executor::ExpressionProgram> program, bool hasPredicate, Context context)
      : ComputedKey(std::move(text), std::move(inputs), std::move(types)), program_(std::move(program)),
        hasPredicate_(hasPredicate), context_(std::move(context)) {}

   void compute(std::span<const Vector> inputs, uint32_t rowCount, const Selection& rows,
                const Use& use) const override {
      SessionFormat format;
      format.types = context_.types;
      executor::FunctionContext functions;
      functions.format = &format;
      functions.catalog = &context_.snapshot;
      functions.session = context_.functions;
      Reservation memory(context_.memory);
      executor::ExpressionState state(program_, functions, memory);
      Batch batch;
      batch.columns.assign(inputs.begin(), inputs.end());
      batch.rowCount = rowCount;
      const size_t keyCount = types().size();
      Selection kept = rows;
      std::vector<RowIndex> list(hasPredicate_ ? rows.count() : 0);
      if (hasPredicate_) kept = program_->filter(state, batch, rows, list.data(), static_cast<uint32_t>(keyCount));
      if (kept.count() == 0) return;
      batch.selection = kept;
      std::vector<Vector> key(program_->expressionCount());
      if (hasPredicate_) { // evaluateAll() would compute the predicate again
         // A column's vector is valid until the next evaluation of the state only.
         std::vector<std::unique_ptr<executor::ExpressionState>> states;
         for (size_t i = 0; i < keyCount; ++i) {
            states.push_back(std::make_unique<executor::ExpressionState>(program_, functions, memory));
            key[i] = program_->evaluate(*states.back(), batch, kept, static_cast<uint32_t>(i));
         }
         use(std::span<const Vector>(key).first(keyCount), kept);
         return;
      }
      program_->evaluateAll(state, batch, kept, key.data());
      use(key, kept);
   }

private:
   const std::shared_ptr<const executor::ExpressionProgram> program_;
   const bool hasPredicate_;
   const Context context_;
};

/// Binds the expressions of one index, all over the same columns: those of its table.
class IndexBinder {
public:
   IndexBinder(const catalog::Snapshot& snapshot, const catalog::Relation& table, const UserTypes* types)
      : table_(table), path_(pathOf(snapshot, table)), format_(formatOf(types)), context_(contextOf(snapshot)) {}

   sql::ExprPtr bind(const std::string& text, sql::ExpressionUse use) {
      const auto script = sql::ParsedScript::parseExpression(text);
      sql::BoundExpression bound = sql::bindExpression(*script.expression(), use, &table_, std::nullopt, {}, context_);
      for (const sql::GetColumn& input : bound.inputs)
         if (std::none_of(inputs.begin(), inputs.end(),
                          [&](const sql::GetColumn& have) { return have.attribute == input.attribute; }))
            inputs.push_back(input);
      if (columns.size() == 0) columns = std::move(bound.columns);
      return std::move(bound.expr);
   }

   std::vector<sql::GetColumn> inputs; ///< what the expressions read
   sql::ColumnTable columns;

private:
   /// Types of the table's schema, and those of "public", need not be qualified.
   static catalog::SearchPath pathOf(const catalog::Snapshot& snapshot, const catalog::Relation& table) {
      const catalog::SchemaPtr schema = snapshot.schema(table.schema);
      const std::vector<std::string> names{schema ? schema->name : "public", "public"};
      return catalog::SearchPath::resolve(snapshot, names, {});
   }
   static SessionFormat formatOf(const UserTypes* types) {
      SessionFormat format;
      format.types = types;
      return format;
   }
   sql::BindContext contextOf(const catalog::Snapshot& snapshot) const {
      return {.catalog = snapshot, .searchPath = path_, .format = format_};
   }

   const catalog::Relation& table_;
   const catalog::SearchPath path_;
   const SessionFormat format_;
   const sql::BindContext context_;
};

} // namespace

sql::plan::ComputedIndexPtr ComputedIndexes::make(const catalog::Snapshot& snapshot, const catalog::Relation& index,
                                                  const catalog::Relation& table) const {
   const catalog::IndexDefinition& definition = *index.index;
   IndexBinder binder(snapshot, table, types_);
   std::vector<sql::ExprPtr> key, predicate;
   std::string text;
   for (size_t i = 0, expression = 0; i < definition.columns.size(); ++i) {
      const int16_t attribute = definition.columns[i];
      const std::string own = attribute == 0 ? definition.expressions.at(expression++)
                                             : catalog::quoteIdentifier(table.column(attribute)->name);
      key.push_back(binder.bind(own, sql::ExpressionUse::IndexExpression));
      text += own + ',';
      // Values that a nondeterministic collation has as equal are one key.
      const auto collation = catalog::collationInfo(snapshot, index.columns.at(i).type.collation);
      if (!collation || collation->isDeterministic) continue;
      key.back() = sql::makeCollationKey(std::move(key.back()),
                                         {collation->oid, std::string(collation->icuLocale), false, false});
      text += "collate " + std::string(collation->icuLocale) + ',';
   }
   if (!definition.predicate.empty()) {
      predicate.push_back(binder.bind(definition.predicate, sql::ExpressionUse::IndexPredicate));
      text += " where " + definition.predicate;
   }
   std::vector<uint32_t> inputs;
   std::vector<sql::ColumnId> slots;
   for (const sql::GetColumn& input : binder.inputs) {
      inputs.push_back(static_cast<uint32_t>(input.attribute - 1));
      slots.push_back(input.column);
   }
   std::vector<SqlType> types;
   std::vector<sql::ExprPtr> lowered;
   auto made = std::make_shared<sql::plan::ComputedIndex>();
   for (const sql::ExprPtr& expr : key) {
      types.push_back(expr->type);
      lowered.push_back(clone(*expr));
      optimizer::lowerAlone(lowered.back(), binder.columns);
      made->lowered.push_back(clone(*lowered.back()));
      optimizer::ExprLowering::convert(lowered.back(), storedRepresentation(expr->type));
   }
   for (const sql::ExprPtr& expr : predicate) {
      lowered.push_back(clone(*expr));
      optimizer::lowerAlone(lowered.back(), binder.columns);
   }
   std::vector<const sql::Expr*> programs;
   for (const sql::ExprPtr& expr : lowered)
      programs.push_back(expr.get());
   made->computed = std::make_shared<ProgramKey>(
       std::move(text), std::move(inputs), std::move(types),
       executor::ExpressionProgram::compile(programs, executor::ColumnSlots(slots), binder.columns), !predicate.empty(),
       ProgramKey::Context{snapshot, functions_, types_, memory_});
   // Columns are known by their attributes from here on.
   std::map<sql::ColumnId, sql::ExprPtr> byAttribute;
   for (const sql::GetColumn& input : binder.inputs)
      byAttribute[input.column] =
          sql::makeColumn(sql::ColumnId{static_cast<uint32_t>(input.attribute)}, table.column(input.attribute)->type);
   const auto renumbered = [&](sql::ExprPtr expr) {
      substituteColumns(expr, [&](sql::ColumnId column) { return byAttribute.at(column).get(); });
      return expr;
   };
   for (sql::ExprPtr& expr : key)
      made->key.push_back(renumbered(std::move(expr)));
   if (!predicate.empty()) made->predicate = sql::conjunctsOf(renumbered(std::move(predicate[0])));
   for (auto& [column, byNumber] : byAttribute)
      byNumber->repr = binder.columns[column].repr;
   for (sql::ExprPtr& expr : made->lowered)
      expr = renumbered(std::move(expr));
   if (!predicate.empty()) made->loweredPredicate = sql::conjunctsOf(renumbered(std::move(lowered.back())));
   return made;
}

sql::plan::ComputedIndexPtr ComputedIndexes::of(const catalog::Snapshot& snapshot, const catalog::RelationPtr& index) {
   if (!index->index->isComputed()) return nullptr;
   const catalog::RelationPtr table = snapshot.relation(index->index->table);
   if (!table) return nullptr;
   {
      const MutexLock lock(mutex_);
      const auto found = known_.find(index->oid);
      if (found != known_.end() && found->second.index == index && found->second.table == table)
         return found->second.computed;
   }
   auto made = make(snapshot, *index, *table);
   const MutexLock lock(mutex_);
   if (known_.size() >= knownMax) known_.clear();
   known_[index->oid] = {index, table, made};
   return made;
}

} // namespace ouzel::engine
