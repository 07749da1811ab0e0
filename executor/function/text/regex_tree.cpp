#include "executor/function/text/regex_tree.hpp"

#include "common/error/sql_error.hpp"

namespace ouzel::executor {

using Kind = RegexNode::Kind;

RegexWidth RegexWidth::operator+(const RegexWidth& other) const {
   const auto add = [](uint32_t l, uint32_t r) { return r >= unbounded - l ? unbounded : l + r; };
   return {add(min, other.min), add(max, other.max)};
}

RegexWidth RegexWidth::repeated(int32_t from, int32_t to) const {
   const auto times = [](uint32_t n, uint64_t count) {
      return n == unbounded ? unbounded : static_cast<uint32_t>(std::min<uint64_t>(n * count, unbounded));
   };
   RegexWidth result = {times(min, static_cast<uint64_t>(from)), 0};
   if (max > 0 && to != 0) result.max = to < 0 ? unbounded : times(max, static_cast<uint64_t>(to));
   return result;
}

void writeRe2(const RegexNode& node, RegexLaziness laziness, bool withCaptures, std::string& out) {
   const auto write = [&](const RegexNode& child) { writeRe2(child, laziness, withCaptures, out); };
   switch (node.kind) {
   case Kind::Text: out.append(node.text); return;
   case Kind::Group:
      out.append(node.isCapture && withCaptures ? "(" : "(?:");
      write(*node.children[0]);
      out.append(")");
      return;
   case Kind::Sequence:
      for (const std::unique_ptr<RegexNode>& child : node.children)
         write(*child);
      return;
   case Kind::Choice:
      for (size_t i = 0; i < node.children.size(); ++i) {
         if (i > 0) out.append("|");
         write(*node.children[i]);
      }
      return;
   case Kind::BackReference:
   case Kind::Look:
   case Kind::WordStart:
   case Kind::WordEnd: throwInternal("an expression that RE2 does not know");
   case Kind::Repeat: break;
   }
   const bool needsGroup = node.children[0]->kind == Kind::Repeat;
   if (needsGroup) out.append("(?:");
   write(*node.children[0]);
   if (needsGroup) out.append(")");
   if (node.min == 0 && node.max == -1) {
      out.append("*");
   } else if (node.min == 1 && node.max == -1) {
      out.append("+");
   } else if (node.min == 0 && node.max == 1) {
      out.append("?");
   } else {
      out.append("{").append(std::to_string(node.min));
      if (node.max != node.min) {
         out.append(",");
         if (node.max >= 0) out.append(std::to_string(node.max));
      }
      out.append("}");
   }
   if (laziness == RegexLaziness::All || (laziness == RegexLaziness::AsGiven && node.isLazy)) out.append("?");
}

} // namespace ouzel::executor
