#include "common/thread/stack.hpp"
#include "sql/program/parser.hpp"

namespace ouzel::sql::program {

Statement Parser::parseIf() {
   checkStack();
   const uint32_t begin = reader_.current().raw.offset;
   If node;
   uint32_t branchBegin = begin;
   for (;;) {
      SqlText condition = readExpression({"then"}, "THEN");
      Body body = parseStatements();
      node.branches.push_back({reader_.lineOf(branchBegin), std::move(condition), std::move(body)});
      if (!take("elsif") && !take("elseif")) break;
      branchBegin = reader_.current().raw.offset;
   }
   if (take("else")) node.otherwise = parseStatements();
   expect("end");
   expect("if");
   expect(";");
   return statement(begin, std::move(node));
}

Statement Parser::parseCase() {
   checkStack();
   const uint32_t begin = reader_.current().raw.offset;
   Case node{};
   if (!take("when")) {
      node.operand = readExpression({"when"}, "WHEN");
   }
   do {
      const uint32_t when = reader_.current().raw.offset;
      SqlText condition = readExpression({"then"}, "THEN");
      Body body = parseStatements();
      node.branches.push_back({reader_.lineOf(when), std::move(condition), std::move(body)});
   } while (take("when"));
   node.hasElse = take("else");
   if (node.hasElse) node.otherwise = parseStatements();
   expect("end");
   expect("case");
   expect(";");
   if (node.operand) hideOperand(node, reader_.lineOf(begin));
   return statement(begin, std::move(node));
}

/// Makes a variable of the operand, and of each WHEN a condition on it.
void Parser::hideOperand(Case& node, uint32_t line) {
   const std::string name = "__Case__Variable_" + std::to_string(program_.variables.size() + rowCount_) + "__";
   node.variable = addVariable(name, line, {{oid::int4, -1, invalidOid, invalidOid}, TypeClass::Scalar});
   program_.variables[node.variable].isHidden = true;
   for (If::Branch& branch : node.branches) {
      branch.condition.text = "\"" + name + "\" IN (" + branch.condition.text + ")";
      branch.condition.scope = reader_.scope;
   }
}

Parser::LoopBody Parser::parseLoopBody() {
   checkStack();
   LoopBody loop{parseStatements(), {}, 0};
   expect("end");
   expect("loop");
   loop.endLabel = optionalEndLabel(loop.endLabelOffset);
   expect(";");
   return loop;
}

Statement Parser::parseLoop(const std::string& label) {
   const uint32_t begin = reader_.current().raw.offset;
   pushLabel(NameKind::LoopLabel, label);
   LoopBody loop = parseLoopBody();
   Statement result = statement(begin, Loop{label, std::move(loop.body)});
   checkLabels(label, loop.endLabel, loop.endLabelOffset);
   popLabel();
   return result;
}

Statement Parser::parseWhile(const std::string& label) {
   const uint32_t begin = reader_.current().raw.offset;
   pushLabel(NameKind::LoopLabel, label);
   SqlText condition = readExpression({"loop"}, "LOOP");
   LoopBody loop = parseLoopBody();
   Statement result = statement(begin, While{label, std::move(condition), std::move(loop.body)});
   checkLabels(label, loop.endLabel, loop.endLabelOffset);
   popLabel();
   return result;
}

Statement Parser::parseExit(bool isContinue) {
   const uint32_t begin = reader_.current().raw.offset;
   uint32_t labelOffset = begin;
   Exit node{isContinue, optionalEndLabel(labelOffset), {}};
   if (const Token& token = reader_.next(); token.is("when"))
      node.condition = readExpression({";"}, ";");
   else if (!token.is(";"))
      reader_.fail();
   Statement result = statement(begin, std::move(node));
   const std::string& label = std::get<Exit>(result.node).label;
   const auto refuse = [&](const std::string& message) {
      throw reader_.error(sqlstate::syntaxError, message, labelOffset);
   };
   if (label.empty()) {
      if (program_.names.isInLoop(reader_.scope)) return result;
      refuse(isContinue ? "CONTINUE cannot be used outside a loop"
                        : "EXIT cannot be used outside a loop, unless it has a label");
   }
   const Name* found = program_.names.findLabel(reader_.scope, label);
   if (!found) refuse("there is no label \"" + label + "\" attached to any block or loop enclosing this statement");
   if (isContinue && found->kind != NameKind::LoopLabel)
      refuse("block label \"" + label + "\" cannot be used in CONTINUE");
   return result;
}

} // namespace ouzel::sql::program
