#include "catalog/object/function_text.hpp"
#include "common/type/blanks.hpp"
#include "engine/program/machine.hpp"
#include "engine/setting/setting_name.hpp"
#include "sql/bind/type/type_rules.hpp"

// RAISE, ASSERT and GET DIAGNOSTICS.

namespace ouzel::engine {

using namespace sql::program;

std::string Machine::contextLine() const {
   std::string line = "PL/pgSQL function ";
   line += function_ ? catalog::signatureOf(core_.transaction.catalog(), core_.searchPath(), *function_)
                     : "inline_code_block";
   if (phase_)
      line += (phaseLine_ > 0 ? " line " + std::to_string(phaseLine_) : "") + " " + phase_;
   else if (current_)
      line += " line " + std::to_string(current_->line) + " at " + std::string(statementName(*current_));
   return line;
}

std::optional<std::string> Machine::output(const SqlText& text) {
   TypedValue value = evaluate(text, std::nullopt);
   if (value.value.isNull) return std::nullopt;
   if (value.type.oid == oid::boolean) return value.value.i64 != 0 ? "t" : "f";
   const SqlType type = value.type;
   const std::string shown = casted(std::move(value), sql::plainType(oid::text)).value.bytes;
   std::string out;
   appendWithBlanks(out, shown, type.oid == oid::bpchar ? type.typmod : -1);
   return out;
}

namespace {

SqlState stateOf(std::string_view code) {
   const std::optional<SqlState> state = SqlState::fromText(code);
   if (!state) throwInternal("a condition has no SQLSTATE");
   return *state;
}

/// What the options of one RAISE say.
struct Report {
   std::string code, message, detail, hint, column, constraint, type, table, schema;
   bool hasMessage = false;
};

std::string& placeOf(Report& report, RaiseOption option) {
   switch (option) {
   case RaiseOption::ErrorCode: return report.code;
   case RaiseOption::Message: return report.message;
   case RaiseOption::Detail: return report.detail;
   case RaiseOption::Hint: return report.hint;
   case RaiseOption::Column: return report.column;
   case RaiseOption::Constraint: return report.constraint;
   case RaiseOption::DataType: return report.type;
   case RaiseOption::Table: return report.table;
   case RaiseOption::Schema: return report.schema;
   }
   throwInternal("unknown option of RAISE");
}

Notice::Severity severityOf(RaiseLevel level) {
   switch (level) {
   case RaiseLevel::Debug: return Notice::Severity::Debug;
   case RaiseLevel::Log: return Notice::Severity::Log;
   case RaiseLevel::Info: return Notice::Severity::Info;
   case RaiseLevel::Warning: return Notice::Severity::Warning;
   default: return Notice::Severity::Notice;
   }
}

constexpr const char* raiseRoutine = "exec_stmt_raise";

} // namespace

Machine::Flow Machine::run(const Raise& node) {
   if (node.isRethrow) {
      if (handled_.empty())
         throw SqlError(sqlstate::stackedDiagnosticsAccessedWithoutActiveHandler,
                        "RAISE without parameters cannot be used outside an exception handler");
      throw SqlError(*handled_.back());
   }
   Report report;
   if (!node.condition.empty()) {
      report.code = conditionCodeOf(node.condition);
      report.message = node.condition;
      report.hasMessage = true;
   }
   if (node.message) {
      report.message.clear();
      report.hasMessage = true;
      size_t next = 0;
      for (size_t i = 0; i < node.message->size(); ++i) {
         const char c = (*node.message)[i];
         if (c != '%') {
            report.message += c;
         } else if (i + 1 < node.message->size() && (*node.message)[i + 1] == '%') {
            report.message += '%';
            ++i;
         } else {
            report.message += output(node.parameters.at(next++)).value_or("<NULL>");
         }
      }
   }
   for (const auto& [option, expression] : node.options) {
      std::optional<std::string> value = output(expression);
      if (!value) throw SqlError(sqlstate::nullValueNotAllowed, "RAISE statement option cannot be null");
      std::string& place = placeOf(report, option);
      if (!place.empty() && (option != RaiseOption::Message || node.message))
         throw SqlError(sqlstate::syntaxError, "RAISE option already specified");
      place = option == RaiseOption::ErrorCode ? std::string(conditionCodeOf(*value)) : std::move(*value);
      report.hasMessage = report.hasMessage || option == RaiseOption::Message;
   }
   if (report.code.empty() && node.level == RaiseLevel::Exception) report.code = "P0001";
   if (!report.hasMessage) report.message = node.condition.empty() ? report.code : node.condition;
   if (node.level != RaiseLevel::Exception) {
      core_.report({severityOf(node.level),
                    report.code.empty()
                        ? (node.level == RaiseLevel::Warning ? sqlstate::warning : sqlstate::successfulCompletion)
                        : stateOf(report.code),
                    report.message, report.detail, report.hint, contextLine(), report.schema, report.table,
                    report.column, report.type, report.constraint, raiseRoutine});
      return Flow::Next;
   }
   SqlError error(stateOf(report.code), report.message);
   throw std::move(error)
       .routine(raiseRoutine)
       .detail(report.detail)
       .hint(report.hint)
       .table(report.schema, report.table)
       .column(report.column)
       .dataType(report.type)
       .constraint(report.constraint);
}

Machine::Flow Machine::run(const Assert& node) {
   if (!core_.settings.boolean("plpgsql.check_asserts") || isTrue(node.condition)) return Flow::Next;
   std::string message = "assertion failed";
   if (node.message) {
      if (auto given = output(*node.message)) message = std::move(*given);
   }
   throw SqlError(sqlstate::assertFailure, message);
}

Machine::Flow Machine::run(const GetDiagnostics& node) {
   if (node.isStacked && handled_.empty())
      throw SqlError(sqlstate::stackedDiagnosticsAccessedWithoutActiveHandler,
                     "GET STACKED DIAGNOSTICS cannot be used outside an exception handler");
   for (const auto& [id, item] : node.items) {
      if (item == DiagnosticItem::RowCount) {
         assignValue(id,
                     {sql::plainType(oid::int8), Value::integer(PhysicalType::I64, static_cast<int64_t>(rowCount_))});
         continue;
      }
      const auto value = [&]() -> std::string {
         if (item == DiagnosticItem::Context) return contextLine();
         const SqlError& error = *handled_.back();
         switch (item) {
         case DiagnosticItem::ExceptionContext: return error.contextText();
         case DiagnosticItem::ExceptionDetail: return error.detailText();
         case DiagnosticItem::ExceptionHint: return error.hintText();
         case DiagnosticItem::ReturnedSqlstate: return std::string(error.state().text());
         case DiagnosticItem::ColumnName: return error.columnName();
         case DiagnosticItem::ConstraintName: return error.constraintName();
         case DiagnosticItem::DataTypeName: return error.dataTypeName();
         case DiagnosticItem::MessageText: return error.what();
         case DiagnosticItem::TableName: return error.tableName();
         case DiagnosticItem::SchemaName: return error.schemaName();
         default: return {};
         }
      };
      assignValue(id, {sql::plainType(oid::text), Value::string(value())});
   }
   return Flow::Next;
}

} // namespace ouzel::engine
