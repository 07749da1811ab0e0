#include "sql/bind/query_binder.hpp"

#include <algorithm>
#include <pthread.h>

// One statement from start to end, and what all topics share.

namespace ouzel::sql {

namespace {

/// Nested expressions and queries; PostgreSQL's default stack gives out between 3,000 and 7,000.
constexpr uint32_t depthMax = 5000;
/// What rewriting, errors and destructors may still need when binding stops.
constexpr size_t stackReserve = 512 * 1024;

/// Lowest address that binding may use of this thread's stack.
uintptr_t stackFloor() {
   static thread_local const uintptr_t floor = [] {
      pthread_attr_t attributes;
      void* lowest = nullptr;
      size_t size = 0;
      if (pthread_getattr_np(pthread_self(), &attributes) != 0) return uintptr_t{0};
      pthread_attr_getstack(&attributes, &lowest, &size);
      pthread_attr_destroy(&attributes);
      return reinterpret_cast<uintptr_t>(lowest) + std::min(stackReserve, size / 2);
   }();
   return floor;
}

} // namespace

DepthGuard::DepthGuard(QueryBinder& binder) : binder_(binder) {
   const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
   if (++binder_.depth_ > depthMax || here < binder_.stackFloor_) {
      --binder_.depth_;
      throw SqlError(sqlstate::statementTooComplex, "stack depth limit exceeded")
          .hint("The statement nests expressions or queries too deeply; break it up.");
   }
}

QueryBinder::QueryBinder(const BindContext& context)
   : context_(context), source_(context.source),
     parameters_(context.parameterTypes.begin(), context.parameterTypes.end()), stackFloor_(stackFloor()) {
   for (Oid& type : parameters_)
      if (type == invalidOid) type = oid::unknown;
}

BoundQuery QueryBinder::bindStatement(const ::Node& statement) {
   BoundQuery query;
   BoundRel bound;
   switch (statement.type) {
   case T_SelectStmt:
      bound = bindSelect(*as<SelectStmt>(&statement), nullptr);
      break;
   default:
      bound = bindDml(statement, nullptr);
      query.kind = isNode(&statement, T_InsertStmt)   ? StatementKind::Insert
                   : isNode(&statement, T_UpdateStmt) ? StatementKind::Update
                   : isNode(&statement, T_DeleteStmt) ? StatementKind::Delete
                                                      : StatementKind::Merge;
   }
   printRows(bound);
   checkParameters();
   if (!parameters_.empty()) typeParameters(*bound.rel);
   query.written = std::move(written_);
   query.hasConflictClause = hasConflictClause_;
   query.readOnly = query.written.empty();
   query.root = std::move(bound.rel);
   query.output = std::move(bound.output);
   query.columns = std::move(columns_);
   for (const Oid type : parameters_)
      query.parameters.push_back(plainType(type));
   query.relations = std::move(relations_);
   query.rowLocked = std::move(rowLocked_);
   return query;
}

void QueryBinder::checkParameters() const {
   for (size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i] == invalidOid || parameters_[i] == oid::unknown)
         throw SqlError(sqlstate::indeterminateDatatype,
                        "could not determine data type of parameter $" + std::to_string(i + 1));
}

/// Parameters whose type became known only after they were bound.
void QueryBinder::typeParameters(Rel& rel) const {
   forEachOwnExpr(rel, [this](ExprPtr& expr) { typeParameters(*expr); });
   for (RelPtr& input : rel.inputs)
      typeParameters(*input);
   for (Cte& cte : rel.ctes) {
      typeParameters(*cte.query);
      if (cte.recursive) typeParameters(*cte.recursive);
   }
}

void QueryBinder::typeParameters(Expr& expr) const {
   if (expr.kind == ExprKind::Parameter && expr.type.oid == oid::unknown) {
      expr.type = plainType(parameters_[expr.parameter]);
      expr.repr = storedRepresentation(expr.type);
   }
   for (ExprPtr& arg : expr.args)
      typeParameters(*arg);
   if (expr.subquery) typeParameters(*expr.subquery);
}

ColumnId QueryBinder::addColumn(uint32_t depth, std::string name, const SqlType& type) {
   ColumnInfo info;
   info.name = std::move(name);
   info.type = type;
   info.repr = storedRepresentation(type);
   owners_.push_back({depth, ColumnKind::Input});
   return columns_.add(std::move(info));
}

bool QueryBinder::readsLevel(const Expr& expr, const Scope& scope) const {
   std::vector<ColumnId> columns;
   collectColumns(expr, columns);
   return std::any_of(columns.begin(), columns.end(), [&](ColumnId column) { return depthOf(column) == scope.depth; });
}

bool QueryBinder::readsKind(const Expr& expr, const Scope& scope, ColumnKind kind) const {
   std::vector<ColumnId> columns;
   collectColumns(expr, columns);
   return std::any_of(columns.begin(), columns.end(),
                      [&](ColumnId column) { return depthOf(column) == scope.depth && kindOf(column) == kind; });
}

uint32_t startOf(const Expr& root) {
   uint32_t start = 0;
   const Expr* expr = &root;
   while (true) { // operators lean left
      if (expr->position && (!start || expr->position < start)) start = expr->position;
      switch (expr->kind) {
      case ExprKind::Column:
      case ExprKind::Constant:
      case ExprKind::Case:
      case ExprKind::Coalesce:
      case ExprKind::Array:
      case ExprKind::Row:
         return start;
      case ExprKind::Subquery:
         if (expr->args.empty() || expr->args[0]->position == 0) return start;
         break;
      default:
         if (expr->args.empty()) return start;
      }
      expr = expr->args[0].get();
   }
}

namespace {

uint32_t positionInRel(const Rel& rel, const std::function<bool(ColumnId)>& matches) {
   uint32_t found = 0;
   forEachOwnExpr(rel, [&](const Expr& expr) {
      if (!found) found = positionOfColumn(expr, matches);
   });
   for (const RelPtr& input : rel.inputs)
      if (!found) found = positionInRel(*input, matches);
   return found;
}

} // namespace

uint32_t positionOfColumn(const Expr& root, const std::function<bool(ColumnId)>& matches) {
   uint32_t found = 0;
   forEachExpr(root, [&](const Expr& expr) {
      if (!found && expr.kind == ExprKind::Column && matches(expr.column)) found = expr.position;
      if (!found && expr.subquery) found = positionInRel(*expr.subquery, matches);
      return !found;
   });
   return found;
}

ExprPtr makeTyped(ExprKind kind, const SqlType& type, uint32_t position) {
   auto expr = std::make_unique<Expr>(kind, type);
   expr->position = position;
   return expr;
}

RelPtr oneRow() {
   auto rel = std::make_unique<Rel>(RelKind::Values);
   rel->rows.emplace_back();
   return rel;
}

RelPtr makeSelect(RelPtr input, ExprPtr predicate) {
   auto rel = std::make_unique<Rel>(RelKind::Select);
   rel->inputs.push_back(std::move(input));
   rel->predicate = std::move(predicate);
   return rel;
}

RelPtr makeMap(RelPtr input, std::vector<ComputedColumn> computed) {
   if (computed.empty()) return input;
   auto rel = std::make_unique<Rel>(RelKind::Map);
   rel->inputs.push_back(std::move(input));
   rel->computed = std::move(computed);
   return rel;
}

// ---- binder.hpp ----

bool isBindable(const ::Node& statement) {
   return statement.type == T_SelectStmt || statement.type == T_InsertStmt || statement.type == T_UpdateStmt ||
          statement.type == T_DeleteStmt || statement.type == T_MergeStmt;
}

BoundQuery bindQuery(const ::Node& statement, const BindContext& context) {
   return QueryBinder(context).bindStatement(statement);
}

BoundView bindView(const ::Node& query, const BindContext& context, uint32_t queryOffset, uint32_t queryLength) {
   return QueryBinder(context).bindViewQuery(query, queryOffset, queryLength);
}

catalog::QualifiedName qualifiedName(const ::RangeVar& name, const BindContext& context) {
   return {std::string(textOf(name.catalogname)), std::string(textOf(name.schemaname)),
           std::string(textOf(name.relname)), context.source ? context.source->position(name.location) : 0};
}

} // namespace ouzel::sql
