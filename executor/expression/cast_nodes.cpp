#include "common/error/sql_error.hpp"
#include "executor/expression/convert.hpp"
#include "executor/expression/scratch.hpp"
#include "executor/kernel/select.hpp"
#include "executor/kernel/validity.hpp"

// Casts that are not functions: between representations, through text, and to a type modifier.

namespace ouzel::executor {

namespace {

using Scratch = ExpressionState::Scratch;

/// Run `body(rows without NULL)` into the node's buffer and keep the argument's NULLs and constness.
template <typename Body>
Vector strictUnary(Scratch& s, const Node& node, const Vector& arg, const Rows& rows, Body&& body) {
   const bool isConstant = arg.encoding == Encoding::Constant;
   Selection selection = isConstant ? Selection::dense(1) : rows.selection;
   Scratch::Buffer& buffer = s.buffer(node);
   const bool hasNulls = combineValidity({&arg, 1}, selection, isConstant ? 1 : s.rowCount, buffer.validity);
   ListLoan list(s);
   if (hasNulls) {
      if (isVariableSize(node.repr.physical)) std::memset(buffer.data, 0, s.rowCount * sizeof(StringView));
      selection = narrowed(selection, list, selectNotNull(arg, selection, list));
   }
   body(selection, buffer.data);
   Vector result = Vector::flat(node.repr.physical, buffer.data, hasNulls ? buffer.validity : nullptr);
   if (isConstant) result.encoding = Encoding::Constant;
   return result;
}

} // namespace

Vector evaluateConvert(Scratch& s, const Node& node, const Rows& rows) {
   const Vector arg = evaluateNode(s, node.args[0], rows);
   return strictUnary(s, node, arg, rows, [&](Selection selection, void* out) {
      convertRows(arg, node.argReprs[0], node.repr, selection, out, *s.strings);
   });
}

Vector evaluateTextCast(Scratch&, const Node&, const Rows&) {
   throwNotSupported("cast through text");
}

Vector evaluateTypmodCast(Scratch&, const Node&, const Rows&) {
   throwNotSupported("cast to a type modifier");
}

} // namespace ouzel::executor
