#include "engine/program/machine.hpp"

#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "common/type/row.hpp"
#include "engine/core/session_services.hpp"
#include "sql/bind/type/type_rules.hpp"

// The control of a program: blocks, branches, loops, handlers.

namespace ouzel::engine {

using namespace sql::program;

Machine::Machine(SessionCore& core, const Program& program, CompiledTexts& texts, const catalog::Function* function,
                 const RunCommand& runCommand, Results& results, MayEndTransactions mayEnd)
   : core_(core), program_(program), texts_(texts), function_(function), runCommand_(runCommand), results_(results),
     mayEnd_(mayEnd), variables_(core, program) {}

void Machine::setInput(size_t index, TypedValue value) {
   const VariableId id = program_.inputs[index];
   if (!variables_.isRecord(id)) return variables_.set(id, std::move(value));
   RecordValue record;
   if (!value.value.isNull) {
      const RowView row(value.value.bytes);
      const auto fields = variables_.fieldsOf(id);
      for (RowView::Cursor field(row); field.next();) {
         const bool isKnown = field.index() < fields.size();
         record.fields.push_back({isKnown ? fields[field.index()].name : "f" + std::to_string(field.index() + 1),
                                  {SqlType{field->type, -1, invalidOid}, valueOfField(*field)}});
      }
      variables_.setRecord(id, std::move(record));
   }
}

void Machine::run() {
   checkStack();
   const std::function<void()> check = [this] { core_.checkInterrupts(); };
   const Interruptible interruptible(check); // for functions that expressions call
   try {
      if (program_.found != noVariable)
         variables_.set(program_.found, {sql::plainType(oid::boolean), Value::boolean(false)});
      const Flow flow = runStatement(program_.block);
      if (flow == Flow::Return) return giveReturned();
      if (!program_.mayReachEnd) {
         current_ = nullptr;
         throw SqlError(sqlstate::sREFunctionExecutedNoReturnStatement,
                        "control reached end of " +
                            std::string(program_.kind == ProgramKind::Trigger ? "trigger procedure" : "function") +
                            " without RETURN");
      }
      keepReturned(program_.endResult);
      giveReturned();
   } catch (SqlError& error) {
      error.addContext(contextLine());
      error.setPosition(0);
      throw;
   }
}

Machine::Flow Machine::runBody(const Body& body) {
   for (const Statement& statement : body)
      if (const Flow flow = runStatement(statement); flow != Flow::Next) return flow;
   return Flow::Next;
}

Machine::Flow Machine::runStatement(const Statement& statement) {
   checkStack();
   const Statement* outer = std::exchange(current_, &statement);
   const Flow flow = std::visit([this](const auto& node) { return run(node); }, statement.node);
   current_ = outer; // an error leaves it where it was made
   return flow;
}

void Machine::declare(VariableId id) {
   const Variable& variable = program_.variables[id];
   variables_.clear(id);
   if (variable.initial) assign(id, *variable.initial);
}

Machine::Flow Machine::run(const Block& block) {
   phase_ = "during statement block local variable initialization"; // an error leaves it
   for (const VariableId id : block.declared) {
      phaseLine_ = program_.variables[id].line;
      declare(id);
   }
   phase_ = nullptr;
   const Flow flow = block.handlers.empty() ? runBody(block.body) : runHandled(block);
   if (flow == Flow::Exit && !block.label.empty() && exitLabel_ == block.label) return Flow::Next;
   return flow;
}

Machine::Flow Machine::runHandled(const Block& block) {
   TransactionContext& transaction = core_.transaction;
   const size_t level = transaction.savepointCount();
   const std::string savepoint = "PL/pgSQL block " + std::to_string(level);
   const Statement* outer = current_;
   transaction.savepoint(savepoint);
   std::optional<SqlError> caught;
   const ExceptionHandler* handler = nullptr;
   const bool mayBeHandled = std::exchange(mayBeHandled_, true);
   try {
      const Flow flow = runBody(block.body);
      mayBeHandled_ = mayBeHandled;
      transaction.releaseSavepoint(savepoint);
      core_.services.joinCursors(level);
      return flow;
   } catch (const SqlError& error) {
      mayBeHandled_ = mayBeHandled;
      core_.services.endCursors(level + 1);
      transaction.rollbackToSavepoint(savepoint);
      transaction.releaseSavepoint(savepoint);
      for (const ExceptionHandler& one : block.handlers)
         for (const Condition& condition : one.conditions)
            if (!handler && catches(condition, error.state().text())) handler = &one;
      if (!handler) throw;
      caught = error;
      caught->addContext(contextLine());
   }
   current_ = outer;
   phase_ = nullptr;
   assignment_ = nullptr;
   const auto text = [&](VariableId id, std::string value) {
      if (id != noVariable) variables_.set(id, {sql::plainType(oid::text), Value::string(std::move(value))});
   };
   text(block.sqlstate, std::string(caught->state().text()));
   text(block.sqlerrm, caught->what());
   handled_.push_back(&*caught);
   const Flow flow = runBody(handler->body);
   handled_.pop_back();
   return flow;
}

Machine::Flow Machine::run(const If& node) {
   for (const If::Branch& branch : node.branches)
      if (isTrue(branch.condition)) return runBody(branch.body);
   return runBody(node.otherwise);
}

Machine::Flow Machine::run(const Case& node) {
   if (node.operand) variables_.set(node.variable, evaluate(*node.operand, std::nullopt));
   for (const If::Branch& branch : node.branches)
      if (isTrue(branch.condition)) return runBody(branch.body);
   if (!node.hasElse)
      throw SqlError(sqlstate::caseNotFound, "case not found").hint("CASE statement is missing ELSE part.");
   return runBody(node.otherwise);
}

std::optional<Machine::Flow> Machine::leavesLoop(Flow flow, const std::string& label) {
   core_.checkInterrupts();
   const bool isOwn = exitLabel_.empty() || (!label.empty() && exitLabel_ == label);
   switch (flow) {
   case Flow::Next: return std::nullopt;
   case Flow::Return: return flow;
   case Flow::Exit:
      if (!isOwn) return flow;
      exitLabel_.clear();
      return Flow::Next;
   case Flow::Continue:
      if (!isOwn) return flow;
      exitLabel_.clear();
      return std::nullopt;
   }
   throwInternal("unknown flow");
}

Machine::Flow Machine::run(const Loop& node) {
   while (true)
      if (const auto flow = leavesLoop(runBody(node.body), node.label)) return *flow;
}

Machine::Flow Machine::run(const While& node) {
   while (isTrue(node.condition))
      if (const auto flow = leavesLoop(runBody(node.body), node.label)) return *flow;
   return Flow::Next;
}

Machine::Flow Machine::run(const ForRange& node) {
   const int64_t lower = integer(node.lower, "lower bound of FOR loop");
   const int64_t upper = integer(node.upper, "upper bound of FOR loop");
   const int64_t step = node.step ? integer(*node.step, "BY value of FOR loop") : 1;
   if (step <= 0) throw SqlError(sqlstate::invalidParameterValue, "BY value of FOR loop must be greater than zero");
   bool found = false;
   Flow result = Flow::Next;
   for (int64_t value = lower; node.isReverse ? value >= upper : value <= upper;
        value = node.isReverse ? value - step : value + step) {
      found = true;
      variables_.set(node.variable, {sql::plainType(oid::int4), Value::integer(PhysicalType::I32, value)});
      if (const auto flow = leavesLoop(runBody(node.body), node.label)) {
         result = *flow;
         break;
      }
   }
   setFound(found, rowCount_);
   return result;
}

namespace {

/// While it lives, a loop over a query that writes is under way.
class WritingLoop {
public:
   WritingLoop(SessionCore& core, bool writes) : core_(core), writes_(writes) { core_.writingLoops += writes_; }
   ~WritingLoop() { core_.writingLoops -= writes_; }
   WritingLoop(const WritingLoop&) = delete;

private:
   SessionCore& core_;
   const bool writes_;
};

} // namespace

Machine::Flow Machine::forRows(const std::string& label, const Target& target, RowStream& stream, const Body& body) {
   constexpr uint64_t rowsAtOnce = 50; // as PostgreSQL's cursor of a loop
   if (!stream.rows().returnsRows)
      throw SqlError(sqlstate::invalidCursorDefinition,
                     "cannot open " + std::string(stream.rows().tag) + " query as cursor");
   const WritingLoop writing(core_, mayEnd_ == MayEndTransactions::Yes && !stream.pin());
   bool found = false;
   while (stream.read(rowsAtOnce)) {
      found = true;
      for (size_t row = 0; row < stream.rows().rows.size(); ++row) {
         assignRow(target, stream.rows(), row);
         if (const auto flow = leavesLoop(runBody(body), label)) {
            setFound(true, rowCount_);
            return *flow;
         }
      }
   }
   if (!found) assignRow(target, stream.rows(), 0);
   setFound(found, rowCount_);
   return Flow::Next;
}

Machine::Flow Machine::run(const ForQuery& node) {
   return forRows(node.label, node.target, *open(node.query, typesOf(node.target)), node.body);
}

Machine::Flow Machine::run(const ForExecute& node) {
   return forRows(node.label, node.target, *openDynamic(node.query, node.parameters, typesOf(node.target)), node.body);
}

namespace {

/// The elements, or the arrays of the last `slice` dimensions.
std::vector<Value> slicesOf(ArrayValue array, uint32_t slice) {
   const size_t dimensions = array.dimensions.size();
   if (slice > dimensions)
      throw SqlError(sqlstate::arraySubscriptError, "slice dimension (" + std::to_string(slice) +
                                                        ") is out of the valid range 0.." + std::to_string(dimensions));
   if (slice == 0) return std::move(array.elements);
   ArrayValue one{array.elementType, array.physical, {array.dimensions.end() - slice, array.dimensions.end()}, {}};
   size_t length = 1;
   for (const ArrayDimension& dimension : one.dimensions)
      length *= static_cast<size_t>(dimension.length);
   std::vector<Value> slices;
   for (size_t at = 0; at + length <= array.elements.size(); at += length) {
      const auto first = array.elements.begin() + static_cast<ptrdiff_t>(at);
      one.elements.assign(std::make_move_iterator(first),
                          std::make_move_iterator(first + static_cast<ptrdiff_t>(length)));
      slices.push_back(Value::string(makeArray(one)));
   }
   return slices;
}

} // namespace

/// Throws 42804 unless the variable takes an array if the loop gives slices, and none if it gives elements.
void Machine::requireLoopVariable(const ForEach& node, Oid element) const {
   const bool isRow = node.target.isRecord || node.target.variables.size() != 1;
   const std::optional<SqlType> type = isRow ? std::nullopt : variables_.typeOf(node.target.variables[0]);
   const bool isArray = type && sql::elementType(type->oid) != invalidOid;
   if (node.slice > 0 && !isArray)
      throw SqlError(sqlstate::datatypeMismatch, "FOREACH ... SLICE loop variable must be of an array type");
   if (node.slice == 0 && isArray && element != invalidOid)
      throw SqlError(sqlstate::datatypeMismatch, "FOREACH loop variable must not be of an array type");
}

Machine::Flow Machine::run(const ForEach& node) {
   const TypedValue array = evaluate(node.array, std::nullopt);
   if (array.value.isNull) throw SqlError(sqlstate::nullValueNotAllowed, "FOREACH expression must not be null");
   const Oid element = sql::elementType(array.type.oid);
   if (!element)
      throw SqlError(sqlstate::datatypeMismatch,
                     "FOREACH expression must yield an array, not type " + sql::typeName(array.type));
   requireLoopVariable(node, element);
   std::vector<Value> values = slicesOf(readArray(array.value.bytes), node.slice);
   const SqlType type = node.slice > 0 ? array.type : SqlType{element, -1, sql::plainType(element).collation};
   bool found = false;
   Flow result = Flow::Next;
   for (Value& value : values) {
      found = true;
      if (node.target.isRecord || node.target.variables.size() > 1)
         assignFields(node.target, {type, std::move(value)});
      else
         assignValue(node.target.variables[0], {type, std::move(value)});
      if (const auto flow = leavesLoop(runBody(node.body), node.label)) {
         result = *flow;
         break;
      }
   }
   setFound(found, rowCount_);
   return result;
}

Machine::Flow Machine::run(const Exit& node) {
   if (node.condition && !isTrue(*node.condition)) return Flow::Next;
   exitLabel_ = node.label;
   return node.isContinue ? Flow::Continue : Flow::Exit;
}

void Machine::setFound(bool found, uint64_t rows) {
   rowCount_ = rows;
   if (program_.found != noVariable)
      variables_.set(program_.found, {sql::plainType(oid::boolean), Value::boolean(found)});
}

} // namespace ouzel::engine
