#include "engine/program/call.hpp"

#include "common/type/row.hpp"
#include "engine/query/query_execution.hpp"
#include "engine/query/statement_runner.hpp"
#include "sql/algebra/build.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

namespace {

/// A list of up to two nodes, as the parser makes it.
struct NodeList {
   explicit NodeList(void* first) : NodeList(first, nullptr, 1) {}
   NodeList(void* first, void* second) : NodeList(first, second, 2) {}
   NodeList(const NodeList&) = delete;

   ListCell cells[2];
   const std::unique_ptr<::List> list = std::make_unique<::List>(); // ends in a flexible array

private:
   NodeList(void* first, void* second, int length) {
      cells[0].ptr_value = first;
      cells[1].ptr_value = second;
      list->type = T_List;
      list->length = list->max_length = length;
      list->elements = cells;
   }
};

} // namespace

struct CallQuery::Nodes {
   explicit Nodes(const ::FuncCall& call)
      : function(const_cast<::FuncCall*>(&call), nullptr), functions(function.list.get()), from(&range), fields(&star),
        targets(&target) {
      range.type = T_RangeFunction;
      range.functions = functions.list.get();
      star.type = T_A_Star;
      column.type = T_ColumnRef;
      column.fields = fields.list.get();
      column.location = -1;
      target.type = T_ResTarget;
      target.val = reinterpret_cast<::Node*>(&column);
      target.location = -1;
      select.type = T_SelectStmt;
      select.targetList = targets.list.get();
      select.fromClause = from.list.get();
   }

   ::RangeFunction range{};
   ::A_Star star{};
   ::ColumnRef column{};
   ::ResTarget target{};
   ::SelectStmt select{};
   NodeList function, functions, from, fields, targets;
};

CallQuery::CallQuery(SessionCore& core, const ::CallStmt& statement, sql::CalledProcedure* called)
   : core_(core), outer_(std::exchange(core.calledProcedure, statement.funccall)),
     outerCalled_(std::exchange(core.called, called)), nodes_(std::make_unique<Nodes>(*statement.funccall)) {}

CallQuery::~CallQuery() {
   core_.calledProcedure = outer_;
   core_.called = outerCalled_;
}

const ::Node& CallQuery::node() const {
   return *sql::as<::Node>(&nodes_->select);
}

namespace {

/// Takes the record of the only row.
class RecordSink final : public ResultSink {
public:
   void begin(const std::vector<ResultColumn>&) override {}
   void rows(const Batch& batch) override {
      forEachRow(batch.selection, [&](uint32_t row) { record = batch.columns[0].value<StringView>(row).view(); });
   }
   std::string record;
};

/// Gives values to a sink as the row of a query.
void giveRow(SessionCore& core, const sql::CalledProcedure& called, std::vector<Value> values, ResultSink& sink) {
   sql::BoundQuery query;
   std::vector<sql::ComputedColumn> computed;
   for (size_t i = 0; i < called.columns.size(); ++i) {
      auto [name, type] = called.columns[i];
      if (type.oid == oid::numeric) type.typmod = -1; // the value is a Decimal
      const sql::ColumnId column = query.columns.add({name, type, storedRepresentation(type)});
      computed.push_back({column, sql::makeConstant(type, std::move(values[i]))});
      query.output.push_back({name, column, type});
   }
   query.root = sql::makeMap(sql::oneRow(), std::move(computed));
   QueryExecution(core, std::move(query)).run(0, &sink);
}

} // namespace

PreparedCall prepareCall(SessionCore& core, const sql::ParsedScript& script, const ::CallStmt& statement,
                         std::span<const BoundParameter> parameters) {
   PreparedCall prepared;
   const CallQuery call(core, statement, &prepared.called);
   RecordSink record;
   startQuery(core, script, call.node(), parameters)->run(0, &record);
   prepared.arguments = std::move(record.record);
   return prepared;
}

std::vector<Value> runCall(SessionCore& core, const PreparedCall& call, const RunCommand& runCommand,
                           MayEndTransactions mayEnd) {
   const std::vector<std::string> rows = runRoutine(core, call.called.procedure, call.arguments, runCommand, mayEnd);
   std::vector<Value> values;
   if (call.called.columns.empty()) return values;
   if (!rows.empty()) {
      const RowView row(rows[0]);
      for (RowView::Cursor field(row); field.next();)
         values.push_back(valueOfField(*field));
   }
   for (size_t i = values.size(); i < call.called.columns.size(); ++i)
      values.push_back(Value::null(rowFieldPhysical(call.called.columns[i].second.oid)));
   return values;
}

std::string callProcedure(CommandContext& context, const ::CallStmt& statement, const RunCommand& runCommand) {
   SessionCore& core = context.core;
   const PreparedCall call = prepareCall(core, context.script, statement, context.parameters);
   std::vector<Value> values = runCall(core, call, runCommand, mayEndTransactions(context));
   if (!call.called.columns.empty()) giveRow(core, call.called, std::move(values), context.sink);
   return "CALL";
}

} // namespace ouzel::engine
