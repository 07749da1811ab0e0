#include "engine/definition/column_constraints.hpp"

#include "engine/query/source_range.hpp"

namespace ouzel::engine {

namespace {

/// Applies the attributes behind one constraint, each at most once.
class AttributeReader {
public:
   /// Returns whether `node` is an attribute of `target` (null: of nothing) and not a constraint.
   bool read(::Constraint* target, const ::Constraint& node, uint32_t position) {
      switch (node.contype) {
      case CONSTR_ATTR_DEFERRABLE:
         require(target, "DEFERRABLE", position);
         requireFirst(sawDeferrable_, "DEFERRABLE/NOT DEFERRABLE", position);
         target->deferrable = true;
         return true;
      case CONSTR_ATTR_NOT_DEFERRABLE:
         require(target, "NOT DEFERRABLE", position);
         requireFirst(sawDeferrable_, "DEFERRABLE/NOT DEFERRABLE", position);
         target->deferrable = false;
         if (sawInitially_ && target->initdeferred) throwNotDeferrable(position);
         return true;
      case CONSTR_ATTR_DEFERRED:
         require(target, "INITIALLY DEFERRED", position);
         requireFirst(sawInitially_, "INITIALLY IMMEDIATE/DEFERRED", position);
         target->initdeferred = true;
         if (!sawDeferrable_) target->deferrable = true;
         if (!target->deferrable) throwNotDeferrable(position);
         return true;
      case CONSTR_ATTR_IMMEDIATE:
         require(target, "INITIALLY IMMEDIATE", position);
         requireFirst(sawInitially_, "INITIALLY IMMEDIATE/DEFERRED", position);
         target->initdeferred = false;
         return true;
      default: sawDeferrable_ = sawInitially_ = false; return false;
      }
   }

private:
   static void require(const ::Constraint* target, const char* attribute, uint32_t position) {
      const bool canDefer = target && (target->contype == CONSTR_PRIMARY || target->contype == CONSTR_UNIQUE ||
                                       target->contype == CONSTR_EXCLUSION || target->contype == CONSTR_FOREIGN);
      if (!canDefer)
         throw SqlError(sqlstate::syntaxError, "misplaced " + std::string(attribute) + " clause").at(position);
   }
   static void requireFirst(bool& saw, const char* attributes, uint32_t position) {
      if (saw)
         throw SqlError(sqlstate::syntaxError, "multiple " + std::string(attributes) + " clauses not allowed")
             .at(position);
      saw = true;
   }
   [[noreturn]] static void throwNotDeferrable(uint32_t position) {
      throw SqlError(sqlstate::syntaxError, "constraint declared INITIALLY DEFERRED must be DEFERRABLE").at(position);
   }

   bool sawDeferrable_ = false, sawInitially_ = false; // behind the present constraint
};

} // namespace

std::vector<ColumnConstraint> columnConstraints(const CommandContext& context, const ::List* constraints) {
   const std::string_view text = context.source().text();
   const sql::ListOf<::Constraint> list(constraints);
   std::vector<ColumnConstraint> result;
   AttributeReader attributes;
   for (uint32_t i = 0; i < list.size(); ++i) {
      ::Constraint* last = result.empty() ? nullptr : &result.back().definition;
      if (!attributes.read(last, *list[i], context.position(list[i]->location)))
         result.push_back({*list[i], endOfConstraint(text, list, i)});
   }
   return result;
}

bool isNoDefault(const sql::Expr& value, const SqlType& type) {
   return sql::isNullConstant(value) && (type.typmod < 0 || type.oid == oid::interval);
}

} // namespace ouzel::engine
