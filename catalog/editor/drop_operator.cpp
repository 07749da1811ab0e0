#include "catalog/editor/drop_plan.hpp"
#include "catalog/object/function_text.hpp"

// What falls with an operator or a cast, and the operators and casts that fall with a function or a type.

namespace ouzel::catalog {

std::string DropPlan::describe(const Operator& op) const {
   return "operator " + signatureOf(editor_.snapshot(), editor_.searchPath_, op);
}

std::string DropPlan::describe(const Cast& cast) const {
   return "cast from " + typeText(editor_.snapshot(), editor_.searchPath_, cast.source.named()) + " to " +
          typeText(editor_.snapshot(), editor_.searchPath_, cast.target.named());
}

void DropPlan::add(const OperatorPtr& op, bool isCascaded, const std::string& reason) {
   for (const FallenOperator& fallen : operators_)
      if (fallen.op == op) return;
   operators_.push_back({op, isCascaded, reason});
}

void DropPlan::add(const CastPtr& cast, bool isCascaded, const std::string& reason) {
   for (const FallenCast& fallen : casts_)
      if (fallen.cast == cast) return;
   casts_.push_back({cast, isCascaded, reason});
}

void DropPlan::addOperatorsOfType(const FallenType& type, const std::string& reason) {
   for (const OperatorPtr& op : editor_.snapshot().operators())
      if (type.is(op->left) || type.is(op->right) || type.is(op->result)) add(op, true, reason);
   for (const CastPtr& cast : editor_.snapshot().casts())
      if (type.is(cast->source) || type.is(cast->target)) add(cast, true, reason);
}

void DropPlan::addOperatorsCalling(Oid function, const std::string& reason) {
   for (const OperatorPtr& op : editor_.snapshot().operators())
      if (op->function == function) add(op, true, reason);
   for (const CastPtr& cast : editor_.snapshot().casts())
      if (cast->function == function) add(cast, true, reason);
}

void DropPlan::follow(const Operator& op) {
   followTexts(op.oid, describe(op));
}

} // namespace ouzel::catalog
