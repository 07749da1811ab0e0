#include "sql/program/compile_trigger.hpp"

#include <algorithm>
#include <map>

#include "common/text/ascii.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/program/text_binder.hpp"

namespace ouzel::sql::program {

namespace {

namespace bit = catalog::trigger_bit;

const SqlType booleanType{oid::boolean, -1, invalidOid};

bool hasSubquery(const Expr& root) {
   bool found = false;
   forEachExpr(root, [&](const Expr& expr) {
      found = found || expr.kind == ExprKind::Subquery;
      return !found;
   });
   return found;
}

const char* operationOf(uint32_t event) {
   return event == bit::insert ? "INSERT" : event == bit::update ? "UPDATE" : "DELETE";
}

class TriggerCompiler final : public TextBinder {
public:
   TriggerCompiler(BindState& state, Scope& scope, const Program& program, const catalog::Relation& table,
                   const catalog::Trigger& trigger, const RowOnItsWay& row, std::string& why)
      : TextBinder(state, program, why), scope_(scope), table_(table), trigger_(trigger), row_(row),
        after_(*row.after) {}

   bool run(ColumnId fires) {
      const auto end = exec(program_.block, fires);
      if (!failed() && end) fail("control may reach its end without RETURN");
      return !failed();
   }
   RelPtr apply(RelPtr rel) {
      for (Step& step : steps_) {
         if (step.column == noColumn) {
            rel = makeSelect(std::move(rel), std::move(step.expr));
            continue;
         }
         std::vector<ComputedColumn> computed;
         computed.push_back({step.column, std::move(step.expr)});
         rel = makeMap(std::move(rel), std::move(computed));
      }
      return rel;
   }
   std::vector<GetColumn> takeRow() { return std::move(after_); }

   FoundVariable find(std::span<const std::string> names) const override {
      const FoundName found = lookUp(names);
      if (!found.name) return {};
      const VariableId id = found.name->variable;
      if (id != program_.newRow && id != program_.oldRow) return TextBinder::find(names);
      auto* self = const_cast<TriggerCompiler*>(this);
      if (found.parts >= names.size()) {
         self->fail("it uses a whole row");
         return {makeNull(plainType(oid::text)), found.parts};
      }
      return {self->fieldOf(id, names[found.parts]), found.parts + 1};
   }

private:
   /// A boolean column that is true where control comes by, and never NULL; noColumn: everywhere.
   using Path = ColumnId;
   using MaybePath = std::optional<Path>; ///< none: control does not get there
   struct Step {
      ColumnId column; ///< noColumn: a condition that rows have to pass
      ExprPtr expr;
   };

   const catalog::Column* columnNamed(const std::string& name) {
      const catalog::Column* column = table_.findColumn(name);
      if (!column) fail("it names a field that is missing");
      return column;
   }
   GetColumn* placeOf(std::vector<GetColumn>& row, const catalog::Column& column) {
      const auto found =
          std::find_if(row.begin(), row.end(), [&](const GetColumn& one) { return one.attribute == column.attribute; });
      return found == row.end() ? nullptr : &*found;
   }
   ExprPtr fieldOf(VariableId record, const std::string& name) {
      const catalog::Column* column = columnNamed(name);
      if (!column) return makeNull(plainType(oid::text));
      if (record == program_.newRow) {
         const GetColumn* place = column->generated ? nullptr : placeOf(after_, *column);
         return place ? makeColumn(place->column, column->type) : makeNull(column->type);
      }
      if (row_.before)
         for (const GetColumn& one : *row_.before)
            if (one.attribute == column->attribute) return makeColumn(one.column, column->type);
      return makeNull(column->type);
   }

   ExprPtr read(VariableId id) override {
      const Variable& variable = program_.variables[id];
      if (variable.promise != Promise::None) return told(variable);
      const auto found = values_.find(id);
      if (found != values_.end()) return makeColumn(found->second, variable.type.type);
      fail("it has a variable without a value");
      return makeNull(variable.type.type);
   }
   ExprPtr told(const Variable& variable) {
      const SqlType& type = variable.type.type;
      const auto text = [&](std::string value) { return makeConstant(type, Value::string(std::move(value))); };
      switch (variable.promise) {
      case Promise::TriggerName: return text(trigger_.name);
      case Promise::TriggerWhen: return text("BEFORE");
      case Promise::TriggerLevel: return text("ROW");
      case Promise::TriggerOperation: return text(operationOf(row_.event));
      case Promise::TriggerTableName: return text(table_.name);
      case Promise::TriggerArgumentCount:
         return makeConstant(type, Value::integer(PhysicalType::I32, static_cast<int64_t>(trigger_.arguments.size())));
      default: fail("it uses " + variable.name); return makeNull(type);
      }
   }

   ColumnId add(const std::string& name, ExprPtr expr) {
      const ColumnId column = state_.addColumn(scope_, name, expr->type);
      steps_.push_back({column, std::move(expr)});
      return column;
   }
   ExprPtr choice(Path path, ExprPtr value, ExprPtr other) {
      auto result = makeTyped(ExprKind::Case, value->type);
      result->args.push_back(makeColumn(path, booleanType));
      result->args.push_back(std::move(value));
      result->args.push_back(std::move(other));
      return result;
   }
   /// The value of an expression, which is computed in the rows of the path only.
   ExprPtr valueOf(const SqlText& text, const SqlType& type) {
      ExprPtr value = evaluate(text, &type);
      if (!failed() && hasSubquery(*value)) fail("it reads tables");
      return failed() ? nullptr : std::move(value);
   }

   MaybePath exec(const Statement& statement, Path path) {
      checkStack();
      const Coming coming(*this);
      comeTo(statement);
      return std::visit([&](const auto& node) { return execNode(node, path); }, statement.node);
   }
   MaybePath exec(const Body& body, MaybePath path) {
      constexpr size_t stepsMax = 200; // more are made for nothing
      for (const Statement& statement : body) {
         if (steps_.size() > stepsMax) return fail("it is too large");
         if (failed() || !path) break;
         path = exec(statement, *path);
      }
      return path;
   }
   template <typename Node>
   MaybePath execNode(const Node&, Path) {
      return fail("it has more than assignments, IF and RETURN");
   }

   MaybePath execNode(const Block& block, Path path) {
      if (!block.handlers.empty()) return fail("it has an exception handler");
      for (const VariableId id : block.declared) {
         const Variable& variable = program_.variables[id];
         if (!isPlain(id)) return std::nullopt;
         comeTo(variable.line, initialization);
         ExprPtr value =
             variable.initial ? valueOf(*variable.initial, variable.type.type) : makeNull(variable.type.type);
         if (failed()) return std::nullopt;
         if (path != noColumn) value = choice(path, std::move(value), makeNull(variable.type.type));
         values_[id] = add(variable.name, std::move(value));
      }
      return exec(block.body, path);
   }

   MaybePath execNode(const Assignment& node, Path path) {
      const Variable& variable = program_.variables[node.target];
      if (!node.steps.empty()) return fail("it assigns to a part of a variable");
      if (variable.kind == VariableKind::Field) return assignField(variable, node.value, path);
      const auto before = values_.find(node.target);
      if (!isPlain(node.target) || before == values_.end()) return fail("it assigns to a row");
      ExprPtr value = valueOf(node.value, variable.type.type);
      if (failed()) return std::nullopt;
      if (path != noColumn) value = choice(path, std::move(value), makeColumn(before->second, variable.type.type));
      before->second = add(variable.name, std::move(value));
      return path;
   }
   MaybePath assignField(const Variable& field, const SqlText& text, Path path) {
      if (field.record != program_.newRow) return fail("it assigns to OLD");
      const catalog::Column* column = columnNamed(field.name);
      if (!column || column->generated) return fail("it assigns to a generated column");
      ExprPtr value = valueOf(text, column->type);
      if (failed()) return std::nullopt;
      GetColumn* place = placeOf(after_, *column);
      if (!place) return fail("it assigns to a column that the row lacks");
      if (path != noColumn) value = choice(path, std::move(value), makeColumn(place->column, column->type));
      place->column = add(column->name, std::move(value));
      state_.columns[place->column].tableOid = table_.oid;
      state_.columns[place->column].attribute = column->attribute;
      return path;
   }

   MaybePath execNode(const If& node, Path path) {
      std::vector<ExprPtr> ways; // to what comes behind
      bool isWhole = true;       // all rows of the path come there
      Path rest = path;
      const auto take = [&](const Body& body, Path arm) {
         const MaybePath after = exec(body, MaybePath(arm));
         isWhole = isWhole && after == arm;
         if (after) ways.push_back(makeColumn(*after, booleanType));
      };
      for (const If::Branch& branch : node.branches) {
         ExprPtr condition = valueOf(branch.condition, booleanType);
         if (failed()) return std::nullopt;
         if (rest != noColumn) condition = choice(rest, std::move(condition), makeBoolean(false));
         const ColumnId holds = add("condition", std::move(condition));
         const auto either = [&](bool wanted) {
            auto is = makeTyped(ExprKind::Case, booleanType);
            is->args.push_back(makeColumn(holds, booleanType));
            is->args.push_back(makeBoolean(wanted));
            is->args.push_back(makeBoolean(!wanted));
            return rest == noColumn ? std::move(is) : choice(rest, std::move(is), makeBoolean(false));
         };
         const Path arm = add("branch", either(true)), other = add("branch", either(false));
         take(branch.body, arm);
         if (failed()) return std::nullopt;
         rest = other;
      }
      take(node.otherwise, rest);
      if (failed() || ways.empty()) return std::nullopt;
      return isWhole ? path : Path(add("branch", makeOr(std::move(ways))));
   }

   MaybePath execNode(const Return& node, Path path) {
      if (node.result.kind == ResultKind::Variable && node.result.variable == program_.newRow) return std::nullopt;
      if (!returnsNull(node)) return fail("it returns another row than NEW");
      steps_.push_back({noColumn, path == noColumn ? makeBoolean(false) : makeNot(makeColumn(path, booleanType))});
      return std::nullopt;
   }

   Scope& scope_;
   const catalog::Relation& table_;
   const catalog::Trigger& trigger_;
   const RowOnItsWay& row_;
   std::vector<GetColumn> after_; ///< NEW as it is at this place
   std::map<VariableId, ColumnId> values_;
   std::vector<Step> steps_;
};

} // namespace

bool returnsNull(const Return& node) {
   if (node.result.kind != ResultKind::Expression) return false;
   const std::string& text = node.result.expression->text;
   const size_t first = text.find_first_not_of(" \t\r\n");
   return first != std::string::npos &&
          lowerCase(text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first)) == "null";
}

bool compileTrigger(BindState& state, Scope& scope, const Program& program, const catalog::Relation& table,
                    const catalog::Trigger& trigger, const RowOnItsWay& row, ColumnId fires, RelPtr& rel,
                    std::string& why) {
   TriggerCompiler compiler(state, scope, program, table, trigger, row, why);
   if (!compiler.inBody([&] { return compiler.run(fires); })) return false;
   rel = compiler.apply(std::move(rel));
   *row.after = compiler.takeRow();
   return true;
}

} // namespace ouzel::sql::program
