#include "engine/program/register_program.hpp"

#include "common/thread/stack.hpp"
#include "executor/function/program/register_compiler.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/program/text_binder.hpp"

namespace ouzel::engine {

using namespace sql::program;
using executor::RegisterCode;
using executor::RegisterCompiler;
using sql::ExprPtr;

namespace {

bool assigns(const Body& body, VariableId id);

/// Whether the statement, or one in it, assigns to the variable. Asks only of statements that can be compiled.
bool assigns(const Statement& statement, VariableId id) {
   if (const auto* block = std::get_if<Block>(&statement.node)) return assigns(block->body, id);
   if (const auto* assignment = std::get_if<Assignment>(&statement.node)) return assignment->target == id;
   if (const auto* loop = std::get_if<Loop>(&statement.node)) return assigns(loop->body, id);
   if (const auto* loop = std::get_if<While>(&statement.node)) return assigns(loop->body, id);
   if (const auto* loop = std::get_if<ForRange>(&statement.node)) return assigns(loop->body, id);
   const auto inBranches = [&](const std::vector<If::Branch>& branches, const Body& otherwise) {
      bool found = assigns(otherwise, id);
      for (const If::Branch& branch : branches)
         found = found || assigns(branch.body, id);
      return found;
   };
   if (const auto* branches = std::get_if<If>(&statement.node))
      return inBranches(branches->branches, branches->otherwise);
   if (const auto* branches = std::get_if<Case>(&statement.node))
      return inBranches(branches->branches, branches->otherwise);
   return false;
}

bool assigns(const Body& body, VariableId id) {
   for (const Statement& statement : body)
      if (assigns(statement, id)) return true;
   return false;
}

class RegisterProgram final : public TextBinder {
public:
   RegisterProgram(sql::BindState& state, const Program& program, std::string& why)
      : TextBinder(state, program, why), places_(program.variables.size()),
        compiler_(static_cast<uint32_t>(program.inputs.size()), [this](const sql::Expr& expr) { return leaf(expr); }) {}

   std::optional<RegisterCode> run() {
      const bool isFunction =
          program_.kind == ProgramKind::Function && !program_.returnsSet && program_.outputs.empty();
      const SqlType& type = program_.returnType.type;
      if (!isFunction || !RegisterCompiler::takes(type)) return fail("it does not return a number, date or boolean");
      for (size_t i = 0; i < program_.inputs.size(); ++i)
         if (isPlain(program_.inputs[i]))
            place(program_.inputs[i], static_cast<uint8_t>(i), typeOf(program_.inputs[i]));
      compile(program_.block);
      if (failed()) return std::nullopt;
      comeTo(0, "");
      compiler_.setOrigin(origin());
      compiler_.fail(RegisterCode::Failure::NoReturn);
      if (!compiler_.isGood()) return fail("it has values that do not fit in registers");
      return compiler_.take(storedRepresentation(type).physical);
   }

private:
   using Op = RegisterCode::Op;
   /// Where a variable is.
   struct Place {
      uint8_t number = 0;
      sql::ColumnId column = sql::noColumn; ///< that stands for it in expressions; none: it has no place
      SqlType type;
   };
   /// A loop or block that EXIT leaves.
   struct Scope {
      const std::string& label;
      bool isLoop;
      std::vector<uint32_t> exits{}, continues{}; ///< jumps
   };

   const SqlType& typeOf(VariableId id) const { return program_.variables[id].type.type; }

   void place(VariableId id, uint8_t number, const SqlType& type) {
      if (!RegisterCompiler::takes(type)) {
         fail("it has values that do not fit in registers");
         return;
      }
      places_[id] = {number, state_.addColumn(sql::noLevel, program_.variables[id].name, type), type};
   }
   uint8_t declare(VariableId id, const SqlType& type) {
      if (places_[id].column == sql::noColumn) place(id, compiler_.allocate(), type);
      return places_[id].number;
   }

   std::optional<uint8_t> leaf(const sql::Expr& expr) const {
      for (const Place& place : places_)
         if (place.column != sql::noColumn && place.column == sql::columnOf(expr)) return place.number;
      return std::nullopt;
   }

   ExprPtr read(VariableId id) override {
      const Place& place = places_[id];
      if (place.column != sql::noColumn) return sql::makeColumn(place.column, place.type);
      fail("it has values that do not fit in registers");
      return sql::makeNull(sql::plainType(oid::text));
   }

   /// The register with an expression's value; the next one may overwrite it.
   uint8_t value(const SqlText& text, const SqlType& type) {
      const ExprPtr expr = evaluate(text, &type);
      return expr ? compiler_.value(*expr) : uint8_t{0};
   }
   void into(uint8_t number, const SqlText& text, const SqlType& type) {
      if (const ExprPtr expr = evaluate(text, &type)) compiler_.into(number, *expr);
   }
   void failIfNull(uint8_t number, RegisterCode::Failure failure) {
      compiler_.add(Op::FailIfNull, 0, number, 0, static_cast<size_t>(failure));
   }

   void compile(const Body& body) {
      for (const Statement& statement : body)
         compile(statement);
   }
   void compile(const Statement& statement) {
      checkStack();
      if (failed() || !compiler_.isGood()) return;
      {
         const Coming coming(*this);
         comeTo(statement);
         compiler_.setOrigin(origin());
         std::visit([&](const auto& node) { compileNode(node); }, statement.node);
      }
      compiler_.setOrigin(origin());
   }
   template <typename Node>
   void compileNode(const Node&) {
      fail("it has a query, or a statement with effects");
   }

   void compileNode(const Block& block) {
      if (!block.handlers.empty()) {
         fail("it has an exception handler");
         return;
      }
      for (const VariableId id : block.declared) {
         if (!isPlain(id)) return;
         const Variable& variable = program_.variables[id];
         const uint8_t number = declare(id, typeOf(id));
         if (failed()) return;
         comeTo(variable.line, initialization);
         if (variable.initial)
            into(number, *variable.initial, typeOf(id));
         else
            compiler_.add(Op::Move, number, compiler_.constant(0, true));
      }
      scopes_.push_back({block.label, false});
      compile(block.body);
      leave();
   }

   void leave() {
      for (const uint32_t jump : scopes_.back().exits)
         compiler_.land(jump);
      scopes_.pop_back();
   }

   void compileNode(const Assignment& node) {
      if (!node.steps.empty()) {
         fail("it assigns to a part of a variable");
         return;
      }
      if (!isPlain(node.target)) return;
      read(node.target);
      if (!failed()) into(places_[node.target].number, node.value, typeOf(node.target));
   }

   void compileBranches(const std::vector<If::Branch>& branches, const Body* otherwise) {
      std::vector<uint32_t> ends;
      for (const If::Branch& branch : branches) {
         const uint32_t next = compiler_.jump(Op::JumpUnlessTrue, value(branch.condition, boolean_));
         compile(branch.body);
         ends.push_back(compiler_.jump(Op::Jump));
         compiler_.land(next);
      }
      if (otherwise)
         compile(*otherwise);
      else
         compiler_.fail(RegisterCode::Failure::NoCase);
      for (const uint32_t end : ends)
         compiler_.land(end);
   }
   void compileNode(const If& node) { compileBranches(node.branches, &node.otherwise); }
   void compileNode(const Case& node) {
      if (node.operand) {
         const ExprPtr operand = evaluate(*node.operand, nullptr);
         if (!operand) return;
         const uint8_t number = declare(node.variable, operand->type);
         if (failed()) return;
         compiler_.into(number, *operand);
      }
      compileBranches(node.branches, node.hasElse ? &node.otherwise : nullptr);
   }

   void compileLoop(const std::string& label, const Body& body, const SqlText* condition) {
      scopes_.push_back({label, true});
      const uint32_t begin = compiler_.here();
      if (condition) scopes_.back().exits.push_back(compiler_.jump(Op::JumpUnlessTrue, value(*condition, boolean_)));
      compile(body);
      for (const uint32_t jump : scopes_.back().continues)
         compiler_.land(jump);
      compiler_.jumpTo(begin);
      leave();
   }
   void compileNode(const Loop& node) { compileLoop(node.label, node.body, nullptr); }
   void compileNode(const While& node) { compileLoop(node.label, node.body, &node.condition); }

   void compileNode(const ForRange& node) {
      const uint8_t counter = compiler_.allocate(), last = compiler_.allocate(), step = compiler_.allocate();
      into(counter, node.lower, integer_);
      failIfNull(counter, RegisterCode::Failure::NullLower);
      into(last, node.upper, integer_);
      failIfNull(last, RegisterCode::Failure::NullUpper);
      uint8_t by = compiler_.constant(1);
      if (node.step) {
         into(by = step, *node.step, integer_);
         failIfNull(by, RegisterCode::Failure::NullStep);
         const uint8_t isBad = compiler_.allocate();
         compare(isBad, sql::CompareOp::Le, by, compiler_.constant(0));
         const uint32_t good = compiler_.jump(Op::JumpUnlessTrue, isBad);
         compiler_.fail(RegisterCode::Failure::BadStep);
         compiler_.land(good);
      }
      const uint8_t isThere = compiler_.allocate();
      compare(isThere, node.isReverse ? sql::CompareOp::Ge : sql::CompareOp::Le, counter, last);
      scopes_.push_back({node.label, true});
      scopes_.back().exits.push_back(compiler_.jump(Op::JumpUnlessTrue, isThere));
      const uint32_t begin = compiler_.here();
      if (assigns(node.body, node.variable))
         compiler_.add(Op::Move, declare(node.variable, integer_), counter);
      else
         place(node.variable, counter, integer_);
      compile(node.body);
      for (const uint32_t jump : scopes_.back().continues)
         compiler_.land(jump);
      compiler_.add(node.isReverse ? Op::NextDown : Op::NextUp, counter, last, by).target = begin;
      leave();
   }

   void compare(uint8_t dst, sql::CompareOp op, uint8_t a, uint8_t b) {
      compiler_.add(Op::Compare, dst, a, b, static_cast<size_t>(op));
   }

   void compileNode(const Exit& node) {
      std::optional<uint32_t> skip;
      if (node.condition) skip = compiler_.jump(Op::JumpUnlessTrue, value(*node.condition, boolean_));
      for (size_t i = scopes_.size(); i-- > 0;) {
         Scope& scope = scopes_[i];
         if (node.label.empty() ? !scope.isLoop : scope.label != node.label) continue;
         (node.isContinue ? scope.continues : scope.exits).push_back(compiler_.jump(Op::Jump));
         if (skip) compiler_.land(*skip);
         return;
      }
      fail("it leaves a loop that is not there");
   }

   void compileNode(const Return& node) {
      const SqlType& type = program_.returnType.type;
      ExprPtr result;
      if (node.result.kind == ResultKind::Expression)
         result = evaluate(*node.result.expression, nullptr);
      else if (node.result.kind == ResultKind::Variable && isPlain(node.result.variable))
         result = read(node.result.variable);
      else
         fail("it returns no value");
      comeTo(0, returnCast);
      if (result && !failed()) result = casted(std::move(result), type);
      if (result) giveOriginToCast(result);
      if (result && !failed()) compiler_.add(Op::Return, 0, compiler_.value(*result));
   }

   const SqlType boolean_ = sql::plainType(oid::boolean), integer_ = sql::plainType(oid::int4);
   std::vector<Place> places_;
   std::vector<Scope> scopes_;
   RegisterCompiler compiler_;
};

} // namespace

std::optional<RegisterCode> registerCodeOf(sql::BindState& state, const Program& program, std::string& why) {
   std::optional<RegisterCode> code;
   RegisterProgram compiler(state, program, why);
   const bool isGood = compiler.inBody([&] {
      code = compiler.run();
      return code.has_value();
   });
   return isGood ? std::move(code) : std::nullopt;
}

} // namespace ouzel::engine
