#include "sql/program/compile_program.hpp"

#include <algorithm>

#include "common/thread/stack.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/program/text_binder.hpp"
#include "sql/program/value_chain.hpp"

namespace ouzel::sql::program {

namespace {

/// Larger programs are executed: a plan of such a size is made for nothing.
constexpr size_t sizeMax = 4000;

/// What a variable is at a place of the program.
struct Binding {
   ExprPtr value;           ///< of the variable's type
   Path path;               ///< where it was assigned
   bool isComputed = false; ///< it is a column or a literal: reading it twice costs nothing
};
/// By variable. Bindings are shared by the branches behind an assignment.
using Environment = std::vector<std::shared_ptr<Binding>>;

/// A NULL is none: it is no literal, which would keep what stands beside it from being computed.
bool isSettled(const Expr& value) {
   return value.kind == ExprKind::Column || knownValue(value);
}

class Compiler final : public TextBinder {
public:
   Compiler(BindState& state, const Program& program, std::span<const ExprPtr> arguments, bool hasFound,
            std::string& why)
      : TextBinder(state, program, why), chain_(state), variables_(program.variables.size()) {
      for (size_t i = 0; i < program.inputs.size() && i < arguments.size(); ++i)
         set(program.inputs[i], clone(*arguments[i]), {});
      hasFound_ = hasFound;
      if (hasFound_) set(program.found, makeBoolean(false), {});
   }

   std::optional<BoundRel> run() {
      const auto end = exec(program_.block, {});
      if (failed()) return std::nullopt;
      if (end) return fail("control may reach its end without RETURN");
      auto query = chain_.finish(program_.name, std::move(returns_));
      if (!query) return fail("it has a constant that may fail");
      return query;
   }

private:
   using MaybePath = std::optional<Path>; ///< none: control does not get there

   void set(VariableId id, ExprPtr value, const Path& path) {
      const bool isComputed = isSettled(*value);
      variables_[id] = std::make_shared<Binding>(Binding{std::move(value), path, isComputed});
   }

   /// The value of a variable, which becomes a column if it is an expression.
   ExprPtr read(VariableId id) override {
      if (!variables_[id]) {
         fail("it has a variable without a value");
         return makeNull(program_.variables[id].type.type);
      }
      settle(*variables_[id]);
      if (knownValue(*variables_[id]->value)) {
         noteKnownValue();
         if (!knowsValues()) {
            const SqlType type = variables_[id]->value->type;
            return makeColumn(state_.addColumn(noLevel, program_.variables[id].name, type), type);
         }
      }
      return clone(*variables_[id]->value);
   }

   void settle(Binding& binding) {
      if (binding.isComputed) return;
      binding.value = chain_.add(program_.name, std::move(binding.value), binding.path);
      binding.isComputed = true;
   }
   /// A value that is not read is computed all the same if it may fail.
   void settleFallible(Binding& binding) {
      if (!binding.isComputed && mayRaise(state_, *binding.value)) settle(binding);
   }

   // The statements. Each gives the path of what comes behind it.
   MaybePath exec(const Statement& statement, const Path& path) {
      checkStack();
      const Coming coming(*this);
      comeTo(statement);
      return std::visit([&](const auto& node) { return execNode(node, path); }, statement.node);
   }
   MaybePath exec(const Body& body, MaybePath path) {
      for (const Statement& statement : body) {
         if (chain_.size() > sizeMax) return fail("it is too large");
         if (failed() || !path) break;
         path = exec(statement, *path);
      }
      return path;
   }
   template <typename Node>
   MaybePath execNode(const Node&, const Path&) {
      return fail(reasonFor<Node>());
   }
   template <typename Node>
   static const char* reasonFor() {
      if constexpr (std::is_same_v<Node, Loop> || std::is_same_v<Node, While> || std::is_same_v<Node, ForRange> ||
                    std::is_same_v<Node, ForQuery> || std::is_same_v<Node, ForExecute> ||
                    std::is_same_v<Node, ForCursor> || std::is_same_v<Node, ForEach>)
         return "it has a loop";
      if constexpr (std::is_same_v<Node, Execute>) return "it has EXECUTE";
      if constexpr (std::is_same_v<Node, Raise> || std::is_same_v<Node, Assert>) return "it has RAISE or ASSERT";
      return "it has a statement with effects";
   }

   MaybePath execNode(const Block& block, const Path& path) {
      if (!block.handlers.empty()) return fail("it has an exception handler");
      for (const VariableId id : block.declared) {
         const Variable& variable = program_.variables[id];
         if (!isPlain(id)) return std::nullopt;
         comeTo(variable.line, initialization);
         ExprPtr value =
             variable.initial ? evaluate(*variable.initial, &variable.type.type) : makeNull(variable.type.type);
         if (failed()) return std::nullopt;
         set(id, std::move(value), path);
      }
      return exec(block.body, path);
   }

   MaybePath execNode(const Assignment& node, const Path& path) {
      const Variable& variable = program_.variables[node.target];
      if (!node.steps.empty()) return fail("it assigns to a part of a variable");
      if (!isPlain(node.target)) return std::nullopt;
      ExprPtr value = evaluate(node.value, &variable.type.type);
      if (failed()) return std::nullopt;
      assign(node.target, std::move(value), path);
      return path;
   }

   void assign(VariableId id, ExprPtr value, const Path& path) {
      if (variables_[id]) settleFallible(*variables_[id]);
      set(id, std::move(value), path);
   }

   MaybePath execNode(const SqlStatement& node, const Path& path) {
      if (!node.hasInto) return fail("it has a statement with effects");
      if (node.isStrict) return fail("it has INTO STRICT");
      if (node.target.isRecord) return fail("it has a record");
      BoundRel query = bind(node.sql);
      if (failed()) return std::nullopt;
      for (const VariableId id : node.target.variables)
         if (!isPlain(id)) return std::nullopt;
      const bool hasRows = !isOnlyMaps(*query.rel);
      const bool isJoined = hasRows && (node.target.variables.size() > 1 || hasFound_);
      ExprPtr found = hasRows ? nullptr : makeBoolean(true);
      if (isJoined) {
         if (!path.empty() && mayRaise(state_, *query.rel)) return fail("a query in a branch may fail");
         if (isVolatileQuery(*query.rel)) return fail("it calls a volatile function");
         RelPtr row = firstRow(state_, std::move(query.rel));
         if (hasFound_) {
            const ColumnId marker = state_.addColumn(noLevel, "found", plainType(oid::boolean));
            std::vector<ComputedColumn> computed;
            computed.push_back({marker, makeBoolean(true)});
            row = makeMap(std::move(row), std::move(computed));
            found = makeTest(ExprKind::IsNotNull, makeColumn(marker, plainType(oid::boolean)));
         }
         chain_.join(std::move(row), path);
      }
      std::vector<ExprPtr> values;
      for (size_t i = 0; i < node.target.variables.size(); ++i) {
         const SqlType& type = program_.variables[node.target.variables[i]].type.type;
         if (i >= query.output.size()) {
            values.push_back(makeNull(type));
            continue;
         }
         ExprPtr value = isJoined ? makeColumn(query.output[i].column, query.output[i].type) : valueOf(query, i, true);
         if (failed()) return std::nullopt;
         if (isVolatile(*value)) return fail("it calls a volatile function");
         value = casted(std::move(value), type);
         if (failed()) return std::nullopt;
         giveOrigin(value);
         values.push_back(std::move(value));
      }
      for (size_t i = 0; i < values.size(); ++i)
         assign(node.target.variables[i], std::move(values[i]), path);
      if (hasFound_) set(program_.found, std::move(found), path);
      return path;
   }

   MaybePath execNode(const Return& node, const Path& path) {
      const SqlType& type = program_.returnType.type;
      ExprPtr value;
      if (node.result.kind == ResultKind::Expression)
         value = evaluate(*node.result.expression, nullptr);
      else if (node.result.kind == ResultKind::Variable)
         value = read(node.result.variable);
      else
         return fail("it returns no value");
      if (failed()) return std::nullopt;
      comeTo(0, returnCast);
      value = casted(std::move(value), type);
      if (failed()) return std::nullopt;
      giveOriginToCast(value);
      for (const auto& binding : variables_) // nobody reads them any more
         if (binding) settleFallible(*binding);
      returns_.push_back({path, std::move(value)});
      return std::nullopt;
   }

   MaybePath execNode(const If& node, const Path& path) { return branches(node.branches, node.otherwise, path); }

   MaybePath execNode(const Case& node, const Path& path) {
      if (!node.hasElse) return fail("it has a CASE without ELSE");
      if (node.operand) {
         ExprPtr value = evaluate(*node.operand, nullptr);
         if (failed()) return std::nullopt;
         set(node.variable, std::move(value), path);
      }
      return branches(node.branches, node.otherwise, path);
   }

   /// A branch of IF that was executed.
   struct Arm {
      Path path;
      MaybePath after{};
      Environment variables{};
      std::shared_ptr<const Expr> condition{}; ///< null: ELSE
   };

   MaybePath branches(const std::vector<If::Branch>& conditional, const Body& otherwise, const Path& path) {
      static const SqlType boolean = plainType(oid::boolean);
      std::vector<Arm> arms;
      const Environment before = variables_;
      Path rest = path;
      for (const If::Branch& branch : conditional) {
         ExprPtr value = evaluate(branch.condition, &boolean);
         if (failed()) return std::nullopt;
         std::shared_ptr<const Expr> condition(chain_.add(program_.name, std::move(value), rest));
         Arm& arm = arms.emplace_back(Arm{rest});
         arm.path.push_back(condition);
         arm.condition = condition;
         const Environment current = variables_;
         arm.after = exec(branch.body, arm.path);
         if (failed()) return std::nullopt;
         arm.variables = std::exchange(variables_, current);
         rest.push_back(std::shared_ptr<const Expr>(makeTest(ExprKind::IsNotTrue, clone(*condition))));
      }
      Arm& last = arms.emplace_back(Arm{rest});
      last.after = exec(otherwise, rest);
      if (failed()) return std::nullopt;
      last.variables = variables_;
      return merged(arms, path, before);
   }

   MaybePath merged(std::vector<Arm>& arms, const Path& path, const Environment& before) {
      const auto live = std::count_if(arms.begin(), arms.end(), [](const Arm& arm) { return arm.after.has_value(); });
      if (live == 0) return std::nullopt;
      if (live == 1) {
         Arm& only = *std::find_if(arms.begin(), arms.end(), [](const Arm& arm) { return arm.after.has_value(); });
         variables_ = std::move(only.variables);
         return only.after;
      }
      Path after = path;
      if (!std::all_of(arms.begin(), arms.end(), [](const Arm& arm) { return arm.after && *arm.after == arm.path; })) {
         std::vector<ExprPtr> ways;
         for (const Arm& arm : arms)
            if (arm.after) ways.push_back(conditionOf(*arm.after, path.size()));
         after.push_back(std::shared_ptr<const Expr>(chain_.add(program_.name, makeOr(std::move(ways)), path)));
      }
      for (VariableId id = 0; id < variables_.size(); ++id)
         merge(id, arms, after, before);
      return after;
   }

   /// The variable behind the branches.
   void merge(VariableId id, std::vector<Arm>& arms, const Path& after, const Environment& before) {
      const Arm& first = *std::find_if(arms.begin(), arms.end(), [](const Arm& arm) { return arm.after.has_value(); });
      const std::shared_ptr<Binding> one = first.variables[id];
      if (std::all_of(arms.begin(), arms.end(),
                      [&](const Arm& arm) { return !arm.after || arm.variables[id] == one; })) {
         variables_[id] = one;
         return;
      }
      const SqlType type = typeIn(id, arms);
      auto value = makeTyped(ExprKind::Case, type);
      for (Arm& arm : arms) {
         if (arm.condition) value->args.push_back(clone(*arm.condition));
         value->args.push_back(arm.after && arm.variables[id] ? valueBehind(arm, id, before) : makeNull(type));
      }
      set(id, std::move(value), after);
   }

   SqlType typeIn(VariableId id, const std::vector<Arm>& arms) const {
      for (const Arm& arm : arms)
         if (arm.after && arm.variables[id]) return arm.variables[id]->value->type;
      return program_.variables[id].type.type;
   }

   ExprPtr valueBehind(const Arm& arm, VariableId id, const Environment& before) {
      Binding& binding = *arm.variables[id];
      if (arm.variables[id] == before[id]) settle(binding); // others may read it, too
      ExprPtr value = clone(*binding.value);
      if (binding.isComputed || binding.path.size() <= arm.path.size() || !mayRaise(state_, *value)) return value;
      auto guard = makeTyped(ExprKind::Case, value->type);
      guard->args.push_back(conditionOf(binding.path, arm.path.size()));
      guard->args.push_back(std::move(value));
      return guard;
   }

   ValueChain chain_;
   Environment variables_;
   std::vector<ReturnedValue> returns_;
};

} // namespace

std::optional<BoundRel> compileProgram(BindState& state, const Program& program, std::span<const ExprPtr> arguments,
                                       std::string& why) {
   if (program.kind != ProgramKind::Function || program.returnsSet || !program.outputs.empty() ||
       program.returnType.kind != TypeClass::Scalar || program.returnType.type.oid == oid::voidType) {
      why = "it does not return one value";
      return std::nullopt;
   }
   for (const bool hasFound : {false, true}) { // FOUND asks for the row of each SELECT INTO, whatever is taken of it
      std::optional<BoundRel> query;
      Compiler compiler(state, program, arguments, hasFound, why);
      const bool isGood = compiler.inBody([&] {
         query = compiler.run();
         return query.has_value();
      });
      if (isGood) return query;
      if (hasFound || why != usesFound || program.found == noVariable) break;
      why.clear();
   }
   return std::nullopt;
}

} // namespace ouzel::sql::program
