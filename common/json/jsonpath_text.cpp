#include <string>

#include "common/error/check.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/json/jsonpath.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"

// jsonpath as text, as PostgreSQL prints it.

namespace ouzel::json {

namespace {

/// Operators bind the tighter the higher. like_regex counts as an operand, as in PostgreSQL.
int priority(PathOp op) {
   switch (op) {
   case PathOp::Or: return 0;
   case PathOp::And: return 1;
   case PathOp::Add:
   case PathOp::Subtract: return 3;
   case PathOp::Multiply:
   case PathOp::Divide:
   case PathOp::Modulo: return 4;
   case PathOp::Plus:
   case PathOp::Minus: return 5;
   default: return isComparison(op) || op == PathOp::StartsWith ? 2 : 6;
   }
}

class PathPrinter {
public:
   explicit PathPrinter(std::string& out) : out_(out) {}

   /// The chain that begins with `node`; its first item in parentheses if it is an operator and `hasParentheses`.
   void chain(const PathNode* node, bool hasParentheses) {
      checkStack();
      item(*node, hasParentheses);
      for (node = node->next; node; node = node->next)
         item(*node, true);
   }

private:
   void item(const PathNode& node, bool hasParentheses) {
      if (hasTwoOperands(node.op)) return binary(node, hasParentheses);
      switch (node.op) {
      case PathOp::Null: out_ += "null"; return;
      case PathOp::Boolean: out_ += node.boolean ? "true" : "false"; return;
      case PathOp::Number:
         if (node.next) out_ += '(';
         decimal::append(out_, node.number);
         if (node.next) out_ += ')';
         return;
      case PathOp::String: return appendQuoted(out_, node.text);
      case PathOp::Variable: out_ += '$'; return appendQuoted(out_, node.text);
      case PathOp::Root: out_ += '$'; return;
      case PathOp::Current: out_ += '@'; return;
      case PathOp::Last: out_ += "last"; return;
      case PathOp::LikeRegex: return likeRegex(node, hasParentheses);
      case PathOp::Not: return inside("!(", node.left, ")");
      case PathOp::IsUnknown: return inside("(", node.left, ") is unknown");
      case PathOp::Exists: return inside("exists (", node.left, ")");
      case PathOp::Filter: return inside("?(", node.left, ")");
      case PathOp::Plus:
      case PathOp::Minus:
         if (hasParentheses) out_ += '(';
         out_ += pathOpName(node.op);
         operand(node.left, node);
         if (hasParentheses) out_ += ')';
         return;
      case PathOp::Key: out_ += '.'; return appendQuoted(out_, node.text);
      case PathOp::AnyKey: out_ += ".*"; return;
      case PathOp::AnyElement: out_ += "[*]"; return;
      case PathOp::Subscripts: return subscripts(node);
      case PathOp::Any: return anyLevel(node);
      default: break;
      }
      out_.append(".").append(pathOpName(node.op)).append("(");
      if (node.op == PathOp::DateTime && node.boolean) appendQuoted(out_, node.text);
      out_ += ')';
   }

   void operand(const PathNode* node, const PathNode& of) { chain(node, priority(node->op) <= priority(of.op)); }
   void inside(const char* before, const PathNode* node, const char* behind) {
      out_ += before;
      chain(node, false);
      out_ += behind;
   }
   void binary(const PathNode& node, bool hasParentheses) {
      if (hasParentheses) out_ += '(';
      operand(node.left, node);
      out_.append(" ").append(pathOpName(node.op)).append(" ");
      operand(node.right, node);
      if (hasParentheses) out_ += ')';
   }
   void likeRegex(const PathNode& node, bool hasParentheses) {
      if (hasParentheses) out_ += '(';
      operand(node.left, node);
      out_ += " like_regex ";
      appendQuoted(out_, node.text);
      if (node.regexFlags != 0) {
         out_ += " flag \"";
         for (uint32_t bit = 0; bit < 5; ++bit)
            if ((node.regexFlags >> bit & 1) != 0) out_ += "ismxq"[bit];
         out_ += '"';
      }
      if (hasParentheses) out_ += ')';
   }
   void subscripts(const PathNode& node) {
      out_ += '[';
      for (const PathSubscript& subscript : node.subscripts) {
         if (&subscript != node.subscripts.data()) out_ += ',';
         chain(subscript.from, false);
         if (subscript.to) inside(" to ", subscript.to, "");
      }
      out_ += ']';
   }
   void level(uint32_t level) { out_ += level == PathNode::leaves ? "last" : std::to_string(level); }
   void anyLevel(const PathNode& node) {
      out_ += ".**";
      if (node.first == 0 && node.last == PathNode::leaves) return;
      out_ += '{';
      level(node.first);
      if (node.first != node.last) {
         out_ += " to ";
         level(node.last);
      }
      out_ += '}';
   }

   std::string& out_;
};

} // namespace

void appendPath(std::string& out, const JsonPath& path) {
   if (!path.isLax) out += "strict ";
   PathPrinter(out).chain(path.root, true);
}

void appendPathText(std::string& out, std::string_view bytes) {
   Arena arena;
   appendPath(out, decodePath(bytes, arena));
}

} // namespace ouzel::json
