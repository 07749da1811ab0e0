#include "sql/bind/type/callee.hpp"
#include "sql/bind/type/qualified_name.hpp"
#include "sql/deparse/resolver.hpp"

// Calls of functions, aggregates and window functions.

namespace ouzel::sql::deparse {

namespace {

bool isHypothetical(const std::string& name) {
   for (const catalog::FunctionInfo* function : catalog::builtins().functions(name)) {
      const auto* aggregate = catalog::builtins().aggregate(function->oid);
      if (aggregate && aggregate->kind == catalog::AggregateKind::Hypothetical) return true;
   }
   return false;
}

/// An aggregate's ORDER BY that names an argument means the argument as the aggregate takes it.
void matchArguments(std::vector<SortItem>& order, const std::vector<TermPtr>& args) {
   for (SortItem& item : order)
      for (const TermPtr& arg : args) {
         const Term* stripped = arg.get();
         while (stripped->kind == TermKind::Cast && stripped->form == Form::Implicit)
            stripped = stripped->args[0].get();
         if (!areSame(*stripped, *item.term)) continue;
         item.term = arg;
         break;
      }
}

} // namespace

std::shared_ptr<WindowSpec> Resolver::windowSpec(const ::WindowDef& node, Level& level) {
   auto spec = std::make_shared<WindowSpec>();
   if (node.name) spec->name = node.name;
   if (node.refname) spec->refers = node.refname;
   spec->frame = node.frameOptions;
   for (const ::Node* item : ListOf<>(node.partitionClause))
      spec->partition.push_back(orderTerm(item, *level.query, level, false, nullptr));
   spec->order = sortItems(node.orderClause, nullptr, level);
   const auto offset = [&](const ::Node* bound) -> TermPtr {
      if (bound == nullptr) return nullptr;
      auto value = term(bound, level);
      if ((node.frameOptions & FRAMEOPTION_RANGE) == 0)
         return cast(std::move(value), plainType(oid::int8), CoercionContext::Assignment, Form::Implicit);
      // The type of the offset depends on that of the column; an unknown literal is an interval for a time.
      if (value->type.oid != oid::unknown || spec->order.empty()) return value;
      const Oid column = spec->order[0].term->type.oid;
      const bool isTime = typeCategory(column) == 'D' || typeCategory(column) == 'T';
      return castTo(std::move(value), isTime ? Oid{oid::interval} : column);
   };
   spec->start = offset(node.startOffset);
   spec->end = offset(node.endOffset);
   return spec;
}

/// The direct arguments of rank() and its kin have the types of the columns that they are ranked among.
void Resolver::uniteHypothetical(const std::string& name, std::vector<TermPtr>& args, size_t direct,
                                 std::vector<Oid>& actual) {
   if (!isHypothetical(name) || args.size() != 2 * direct) return;
   for (size_t i = 0; i < direct; ++i) {
      const TermPtr pair[] = {args[direct + i], args[i]};
      const SqlType type = commonType(pair);
      for (const size_t at : {i, direct + i}) {
         args[at] = castType(std::move(args[at]), type, CoercionContext::Implicit, Form::Implicit);
         actual[at] = args[at]->type.oid;
      }
   }
}

TermPtr Resolver::call(const ::FuncCall& node, Level& level) {
   const auto functions = functionsCalled(context_.catalog, context_.searchPath, node.funcname);
   const std::string name =
       functions.empty() ? std::string(stringOf(ListOf<>(node.funcname).back())) : std::string(functions[0]->name);
   std::vector<TermPtr> args;
   std::vector<Oid> actual;
   std::vector<std::string> argNames;
   for (const ::Node* arg : ListOf<>(node.args)) {
      args.push_back(term(arg, level));
      if (args.back()->kind == TermKind::NamedArg) argNames.push_back(args.back()->name);
      actual.push_back(args.back()->type.oid);
   }
   const size_t direct = args.size();
   std::vector<SortItem> order;
   if (node.agg_within_group) {
      for (const auto* item : ListOf<SortBy>(node.agg_order)) {
         args.push_back(term(item->node, level));
         actual.push_back(args.back()->type.oid);
      }
   } else {
      order = sortItems(node.agg_order, nullptr, level);
   }
   if (ListOf<>(node.funcname).size() == 1 && args.size() == 1 && args[0]->kind == TermKind::Column &&
       args[0]->number == -1 && args[0]->type.oid != oid::record)
      if (const auto relation = context_.catalog.relationOfType(args[0]->type.oid);
          relation && relation->findColumn(name) &&
          resolveFunction(name, actual, argNames, false, functions).outcome == Resolution::None)
         return fieldOf(std::move(args[0]), name);
   if (node.agg_within_group) uniteHypothetical(name, args, direct, actual);
   const auto* extensionType = extensionTypeNamed(context_.catalog, context_.searchPath, ListOf<>(node.funcname));
   const FunctionResolution found =
       resolveFunction(name, actual, argNames, node.func_variadic, functions, extensionType);
   if (found.outcome == Resolution::Cast)
      return cast(std::move(args[0]), plainType(found.castTarget), CoercionContext::Explicit, Form::Explicit);
   if (found.outcome != Resolution::Found) giveUp();
   const FunctionCandidate& candidate = found.candidate;
   std::vector<Oid> declared = candidate.args;
   const Oid result = enforceGenericConsistency(actual, declared, candidate.function->returnType);
   for (size_t i = 0; i < args.size() && i < declared.size(); ++i) {
      TermPtr& value = args[i]->kind == TermKind::NamedArg ? args[i]->args[0] : args[i];
      value = castTo(std::move(value), declared[i]);
   }
   bool isVariadic = node.func_variadic;
   if (candidate.variadicCount > 0 && !isVariadic && candidate.function->variadicElement != oid::any) {
      // PostgreSQL keeps the arguments of a variadic parameter as the array that they become.
      const size_t first = args.size() - candidate.variadicCount;
      std::vector<TermPtr> elements(args.begin() + static_cast<long>(first), args.end());
      args.resize(first);
      const SqlType element = commonType(elements);
      args.push_back(makeTerm(TermKind::Array, plainType(arrayType(element.oid)), std::move(elements)));
      isVariadic = true;
   }
   const bool isAggregate = candidate.function->kind == catalog::FunctionKind::Aggregate;
   auto term = makeTerm(TermKind::Call, plainType(result));
   term->function = candidate.function;
   term->name = candidate.function->name;
   term->isVariadic = isVariadic;
   if (isAggregate && node.over == nullptr) term->kind = TermKind::Aggregate;
   if (node.over) {
      term->kind = TermKind::Window;
      term->window = windowSpec(*node.over, level);
   }
   if (term->kind == TermKind::Call && node.funcformat == COERCE_SQL_SYNTAX) term->form = Form::Syntax;
   term->isDistinct = node.agg_distinct;
   term->isStar = node.agg_star;
   if (node.agg_filter) term->filter = condition(node.agg_filter, level);
   if (!node.agg_within_group) matchArguments(order, args);
   if (node.agg_within_group) {
      term->isOrderedSet = true;
      size_t i = direct;
      order = sortItems(node.agg_order, nullptr, level);
      for (SortItem& item : order)
         item.term = args[i++];
      args.resize(direct);
   }
   term->order = std::move(order);
   term->args = std::move(args);
   return term;
}

} // namespace ouzel::sql::deparse
