#include "common/type/array.hpp"
#include "common/type/row.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/session_functions.hpp"

// Calls of functions of users that have to be run: the session runs their statements. Plans with these calls run on the
// session's thread.

namespace ouzel::executor {

namespace {

std::vector<std::string> rowsOf(const KernelCall& call, uint32_t row) {
   const auto routine = static_cast<Oid>(call.args[0].value<int64_t>(row));
   return call.context.requireSession("functions of users")
       .runRoutine(routine, call.args[1].value<StringView>(row).view());
}

/// ouzel_run(routine, arguments): its first row; NULL: it gives none.
void run(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const std::vector<std::string> rows = rowsOf(call, row);
      if (rows.empty())
         result.setNull(row);
      else
         out[row] = result.strings().copyString(rows.front());
   });
}

/// ouzel_run_set(routine, arguments): an array of its rows, or of their only values if it returns no rows.
void runSet(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   const Oid element = arrayElementType(call.resultType.oid);
   forEachRow(call.rows, [&](uint32_t row) {
      std::vector<Value> elements;
      for (std::string& one : rowsOf(call, row))
         elements.push_back(isRowValue(element) ? Value::string(std::move(one)) : valueOfField(RowView(one).field(0)));
      out[row] = result.strings().copyString(makeArray(element, elements));
   });
}

/// ouzel_partition(table, keys): an OID; NULL: the row has no partition.
void partition(const KernelCall& call, ResultVector& result) {
   int64_t* out = result.values<int64_t>();
   forEachRow(call.rows, [&](uint32_t row) {
      const auto table = static_cast<Oid>(call.args[0].value<int64_t>(row));
      const Oid found =
          call.context.requireSession("triggers").partitionOf(table, call.args[1].value<StringView>(row).view());
      if (found != invalidOid)
         out[row] = found;
      else
         result.setNull(row);
   });
}

/// ouzel_trigger(target, table, trigger, event, old, new): the row that goes on; NULL: none does.
void trigger(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const auto number = [&](size_t i) { return static_cast<Oid>(call.args[i].value<int64_t>(row)); };
      const auto record = [&](size_t i) -> std::optional<std::string_view> {
         if (call.args[i].isNull(row)) return std::nullopt;
         return call.args[i].value<StringView>(row).view();
      };
      RowTriggerCall fired;
      fired.target = number(0);
      fired.table = call.args[1].isNull(row) ? invalidOid : number(1);
      fired.trigger = number(2);
      fired.event = static_cast<uint32_t>(call.args[3].value<int32_t>(row));
      fired.oldRow = record(4);
      fired.newRow = record(5);
      if (const auto made = call.context.requireSession("triggers").runRowTrigger(fired))
         out[row] = result.strings().copyString(*made);
      else
         result.setNull(row);
   });
}

} // namespace

void registerRoutine() {
   registerKernel("ouzel_partition", anyArguments, {partition, false, false});
   registerKernel("ouzel_trigger", anyArguments, {trigger, false, false});
   registerKernel("ouzel_run", anyArguments, {run, false, false});
   registerKernel("ouzel_run_set", anyArguments, {runSet, false, false});
}

} // namespace ouzel::executor
