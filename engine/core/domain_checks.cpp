#include "engine/core/domain_checks.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "optimizer/query/expr_lowering.hpp"
#include "sql/bind/binder.hpp"

// The checks are compiled when a value of the domain is first checked, and again when the catalog has changed.

namespace ouzel::engine {

namespace {

/// A CHECK as a program over batches whose only column has the values.
std::shared_ptr<const executor::ExpressionProgram> compile(const std::string& check, const catalog::Relation& domain,
                                                           const catalog::Snapshot& snapshot, const UserTypes& types) {
   const catalog::SearchPath path = catalog::SearchPath::resolve(snapshot, {}, {});
   SessionFormat format;
   format.types = &types;
   const sql::BindContext context{.catalog = snapshot, .searchPath = path, .format = format};
   const auto script = sql::ParsedScript::parseExpression(check);
   // Values lie as in the fields of rows: a numeric is a Decimal.
   catalog::Relation wide = domain;
   SqlType& type = wide.columns[0].type;
   if (type.oid == oid::numeric) type.typmod = -1;
   sql::BoundExpression bound =
       sql::bindExpression(*script.expression(), sql::ExpressionUse::CheckConstraint, &wide, std::nullopt, {}, context);
   std::vector<sql::ColumnId> columns;
   for (const sql::GetColumn& input : bound.inputs)
      columns.push_back(input.column);
   optimizer::lowerAlone(bound.expr, bound.columns);
   return executor::ExpressionProgram::compile(*bound.expr, executor::ColumnSlots(columns), bound.columns);
}

uint32_t rowCountOf(const Selection& rows) {
   return rows.count() == 0 ? 0 : rows.row(rows.count() - 1) + 1u;
}

} // namespace

void DomainChecks::setFormat(const SessionFormat& format) {
   const MutexLock lock(mutex_);
   format_ = format;
}

SessionFormat DomainChecks::format() const {
   const MutexLock lock(mutex_);
   return format_;
}

std::shared_ptr<const DomainChecks::Steps> DomainChecks::stepsOf(Oid domain) const {
   const catalog::Snapshot now = snapshot();
   {
      const MutexLock lock(mutex_);
      const auto found = known_.find(domain);
      if (found != known_.end() && found->second->snapshot.version() == now.version()) return found->second;
   }
   auto made = make(domain);
   const MutexLock lock(mutex_);
   if (!known_.empty() && known_.begin()->second->snapshot.version() != now.version()) known_.clear();
   known_[domain] = made;
   return made;
}

std::shared_ptr<const DomainChecks::Steps> DomainChecks::make(Oid domain) const {
   auto made = std::make_shared<Steps>();
   made->snapshot = snapshot();
   made->name = objectName(oid::regtype, domain);
   if (const catalog::RelationPtr outermost = made->snapshot.relationOfType(domain)) {
      made->schema = made->snapshot.schema(outermost->schema)->name;
      made->plainName = outermost->name;
   }
   while (domain != invalidOid) {
      const catalog::RelationPtr relation = made->snapshot.relationOfType(domain);
      if (!relation || relation->relationKind != catalog::RelationKind::Domain)
         throwInternal("domain " + std::to_string(domain) + " does not exist");
      Step step;
      const catalog::Column& value = relation->columns[0];
      step.notNull = value.notNull;
      std::vector<catalog::Constraint> checks = relation->constraints;
      std::sort(checks.begin(), checks.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
      for (const catalog::Constraint& check : checks)
         step.checks.push_back({check.name, compile(check.expression, *relation, made->snapshot, *this)});
      made->steps.insert(made->steps.begin(), std::move(step));
      domain = value.type.domain;
      if ((domain & userArrayBit) == 0) continue;
      Step elements; // a domain over an array of another one: its elements are checked first
      elements.elements = domain & ~userArrayBit;
      made->steps.insert(made->steps.begin(), std::move(elements));
      break;
   }
   return made;
}

void DomainChecks::checkElements(Oid domain, const Vector& arrays, const Selection& rows) const {
   struct alignas(16) Place {
      std::byte bytes[16];
   };
   std::vector<std::byte> values(size_t{batchRowsMax} * sizeof(Place));
   ValidityWord validity[validityWords(batchRowsMax)];
   uint32_t count = 0;
   PhysicalType physical = PhysicalType::String;
   const auto flush = [&] {
      if (count > 0) checkDomain(domain, Vector::flat(physical, values.data(), validity), Selection::dense(count));
      count = 0;
   };
   forEachRow(rows, [&](uint32_t row) {
      if (arrays.isNull(row)) return;
      const ArrayView array(arrays.value<StringView>(row).view());
      if (array.size() > 0 && array.physical() != physical) flush();
      if (array.size() > 0) physical = array.physical();
      const uint32_t width = physicalSize(physical);
      for (ArrayView::Cursor element(array); element.next();) {
         setValidBit(validity, count, !element.isNull());
         std::memcpy(values.data() + size_t{count} * width, element.stored(), width);
         if (isVariableSize(physical) && element.isNull())
            new (values.data() + size_t{count} * width) StringView(); // NULLs must be readable
         if (++count == batchRowsMax) flush();
      }
      flush(); // strings lie in the cursor's array
   });
}

void DomainChecks::checkDomain(Oid domain, const Vector& values, const Selection& rows) const {
   if ((domain & userArrayBit) != 0) return checkElements(domain & ~userArrayBit, values, rows);
   const std::shared_ptr<const Steps> all = stepsOf(domain);
   SessionFormat format = this->format();
   format.types = this;
   executor::FunctionContext context;
   context.format = &format;
   context.transactionStart = context.statementStart = format.now;
   context.catalog = &all->snapshot;
   context.session = functions_;
   Batch batch;
   batch.columns.push_back(values);
   batch.selection = rows;
   batch.rowCount = rowCountOf(rows);
   for (const Step& step : all->steps) {
      if (step.elements) checkElements(step.elements, values, rows);
      if (step.notNull)
         forEachRow(rows, [&](uint32_t row) {
            if (values.isNull(row))
               throw SqlError(sqlstate::notNullViolation, "domain " + all->name + " does not allow null values")
                   .table(all->schema, {})
                   .dataType(all->plainName);
         });
      for (const Check& check : step.checks) {
         Reservation memory(memory_);
         executor::ExpressionState state(check.program, context, memory);
         const Vector passes = check.program->evaluate(state, batch, rows);
         forEachRow(rows, [&](uint32_t row) {
            if (!passes.isNull(row) && passes.value<uint8_t>(row) == 0)
               throw SqlError(sqlstate::checkViolation, "value for domain " + all->name +
                                                            " violates check constraint \"" + check.constraint + "\"")
                   .table(all->schema, {})
                   .dataType(all->plainName)
                   .constraint(check.constraint);
         });
      }
   }
}

} // namespace ouzel::engine
