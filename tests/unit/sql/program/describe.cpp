#include "tests/unit/sql/program/program_support.hpp"

namespace ouzel::sql::program {

namespace {

/// Writes statements, each behind its line, with names of variables and texts in braces.
class Writer {
public:
   explicit Writer(const Program& program) : program_(program) {}

   void body(const Body& body) {
      depth_ += 1;
      for (const Statement& statement : body) {
         begin(statement.line);
         std::visit(*this, statement.node);
      }
      depth_ -= 1;
   }
   std::string text;

   void operator()(const Block& block) {
      text += "block" + labeled(block.label);
      for (const VariableId id : block.declared)
         text += " " + declared(program_.variables[id]);
      body(block.body);
      depth_ += 1;
      for (const ExceptionHandler& handler : block.handlers) {
         begin(handler.line);
         text += "when";
         for (const Condition& condition : handler.conditions)
            text += " " + condition.name + "=" + condition.code;
         body(handler.body);
      }
      depth_ -= 1;
   }
   void operator()(const Assignment& node) {
      text += "assign " + name(node.target);
      for (const TargetStep& step : node.steps) {
         if (!step.field.empty())
            text += " ." + step.field;
         else
            text += " [" + sql(step.lower) + (step.isSlice ? ":" : "") + sql(step.upper) + "]";
      }
      text += " := " + sql(node.value);
   }
   void operator()(const If& node) { branches("if", node.branches, node.otherwise); }
   void operator()(const Case& node) {
      text += "case" + sql(node.operand);
      branches("", node.branches, node.otherwise);
      if (!node.hasElse) text += " (no else)";
   }
   void operator()(const Loop& node) { loop("loop", node.label, node.body); }
   void operator()(const While& node) { loop("while " + sql(node.condition), node.label, node.body); }
   void operator()(const ForRange& node) {
      loop("for " + name(node.variable) + (node.isReverse ? " reverse " : " ") + sql(node.lower) + ".." +
               sql(node.upper) + sql(node.step),
           node.label, node.body);
   }
   void operator()(const ForQuery& node) {
      loop("for " + target(node.target) + sql(node.query), node.label, node.body);
   }
   void operator()(const ForExecute& node) {
      loop("for " + target(node.target) + "execute " + sql(node.query) + list(node.parameters), node.label, node.body);
   }
   void operator()(const ForCursor& node) {
      loop("for " + name(node.record) + " in cursor " + name(node.cursor) + sql(node.arguments), node.label, node.body);
   }
   void operator()(const ForEach& node) {
      loop("foreach " + target(node.target) + std::to_string(node.slice) + " " + sql(node.array), node.label,
           node.body);
   }
   void operator()(const Exit& node) {
      text += (node.isContinue ? "continue" : "exit") + labeled(node.label) + sql(node.condition);
   }
   void operator()(const Return& node) { text += "return" + result(node.result); }
   void operator()(const ReturnNext& node) { text += "return next" + result(node.result); }
   void operator()(const ReturnQuery& node) {
      text += "return query" + sql(node.query) + sql(node.dynamicQuery) + list(node.parameters);
   }
   void operator()(const Raise& node) {
      text +=
          "raise " + std::to_string(static_cast<int>(node.level)) + (node.isRethrow ? " again" : "") + node.condition;
      if (node.message) text += " '" + *node.message + "'";
      text += list(node.parameters);
      for (const auto& [option, value] : node.options)
         text += " " + std::to_string(static_cast<int>(option)) + "=" + sql(value);
   }
   void operator()(const Assert& node) { text += "assert " + sql(node.condition) + sql(node.message); }
   void operator()(const SqlStatement& node) {
      text += "sql " + sql(node.sql);
      if (node.hasInto) text += std::string(node.isStrict ? " strict" : "") + " into " + target(node.target);
   }
   void operator()(const Perform& node) { text += "perform " + sql(node.query); }
   void operator()(const Call& node) { text += (node.isDo ? "do " : "call ") + sql(node.sql); }
   void operator()(const Execute& node) {
      text += "execute " + sql(node.command);
      if (node.hasInto) text += std::string(node.isStrict ? " strict" : "") + " into " + target(node.target);
      text += list(node.parameters);
   }
   void operator()(const GetDiagnostics& node) {
      text += node.isStacked ? "get stacked" : "get";
      for (const auto& [variable, item] : node.items)
         text += " " + name(variable) + "=" + std::to_string(static_cast<int>(item));
   }
   void operator()(const OpenCursor& node) {
      text += "open " + name(node.cursor) + " " + std::to_string(static_cast<int>(node.scrolling)) + sql(node.query) +
              sql(node.dynamicQuery) + list(node.parameters) + sql(node.arguments);
   }
   void operator()(const Fetch& node) {
      const std::string count = node.count == Fetch::fetchAll ? "all" : std::to_string(node.count);
      text += (node.isMove ? "move " : "fetch ") + std::to_string(static_cast<int>(node.direction)) + " " +
              (node.countExpression ? sql(*node.countExpression) : count) + " from " + name(node.cursor);
      if (!node.isMove) text += " into " + target(node.target);
   }
   void operator()(const CloseCursor& node) { text += "close " + name(node.cursor); }
   void operator()(const EndTransaction& node) {
      text += std::string(node.isCommit ? "commit" : "rollback") + (node.isChained ? " and chain" : "");
   }

private:
   void begin(uint32_t line) { text += "\n" + std::string(2 * depth_, ' ') + std::to_string(line) + " "; }
   std::string name(VariableId id) const {
      const Variable& variable = program_.variables[id];
      return variable.kind == VariableKind::Field ? name(variable.record) + "." + variable.name : variable.name;
   }
   std::string declared(const Variable& v) const {
      std::string shown = v.name + "@" + std::to_string(v.line) + ":" + std::to_string(v.type.type.named());
      if (v.isConstant) shown += " constant";
      if (v.isNotNull) shown += " not null";
      shown += sql(v.initial);
      if (v.cursor) {
         shown += " cursor " + std::to_string(static_cast<int>(v.cursor->scrolling)) + " (";
         for (const VariableId argument : v.cursor->arguments)
            shown += name(argument) + ",";
         shown += ") " + sql(v.cursor->query);
      }
      return shown;
   }
   static std::string sql(const SqlText& value) { return "{" + value.text + "}"; }
   static std::string sql(const std::optional<SqlText>& value) { return value ? " " + sql(*value) : ""; }
   static std::string list(const std::vector<SqlText>& values) {
      std::string shown;
      for (const SqlText& value : values)
         shown += " " + sql(value);
      return shown;
   }
   static std::string labeled(const std::string& label) { return label.empty() ? "" : " <<" + label + ">>"; }
   std::string target(const Target& target) const {
      std::string shown = target.isRecord ? "record " : "";
      for (const VariableId id : target.variables)
         shown += name(id) + " ";
      return shown;
   }
   std::string result(const Result& result) const {
      switch (result.kind) {
      case ResultKind::Nothing: return "";
      case ResultKind::Expression: return sql(result.expression);
      case ResultKind::Variable: return " variable " + name(result.variable);
      case ResultKind::OutputParameters: return " outputs";
      }
      return "";
   }
   void loop(const std::string& head, const std::string& label, const Body& statements) {
      text += head + labeled(label);
      body(statements);
   }
   void branches(const std::string& word, const std::vector<If::Branch>& list, const Body& otherwise) {
      text += word;
      for (const If::Branch& branch : list) {
         text += " @" + std::to_string(branch.line) + " " + sql(branch.condition);
         body(branch.body);
      }
      if (!otherwise.empty()) begin(0), text += "else";
      body(otherwise);
   }

   const Program& program_;
   size_t depth_ = 0;
};

} // namespace

std::string describe(const Program& program) {
   Writer writer(program);
   Body body;
   body.push_back(program.block);
   writer.body(body);
   return writer.text.substr(1) + "\n";
}

} // namespace ouzel::sql::program
