#include "sql/bind/expression/function_call.hpp"

#include <algorithm>

#include "catalog/builtin/internal_functions.hpp"
#include "sql/algebra/blanks.hpp"
#include "sql/bind/expression/aggregate.hpp"
#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/expression/in_out_call.hpp"
#include "sql/bind/expression/row_function.hpp"
#include "sql/bind/expression/sql_function.hpp"
#include "sql/bind/expression/user_aggregate.hpp"
#include "sql/bind/expression/view_function.hpp"
#include "sql/bind/expression/window_call.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/callee.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// Function calls: overloads, named, default and variadic arguments, and the dispatch by kind: function, aggregate,
// window function, set-returning function, cast.

namespace ouzel::sql {

using catalog::AggregateKind;
using catalog::builtins;
using catalog::FunctionInfo;
using catalog::FunctionKind;

namespace {

/// The place of a call. In FROM a function may return a set or several columns.
enum class CallPlace : uint8_t { Expression, FromItem };

/// A call in the text, and its place.
struct CallSite {
   const ::FuncCall* call = nullptr; ///< null: made by the binder
   CallPlace place = CallPlace::Expression;
   uint32_t directCount = 0;                   ///< of WITHIN GROUP: arguments before it
   const ::List* definitions = nullptr;        ///< FromItem: the column definition list; null: none
   std::optional<RoutineRows>* rows = nullptr; ///< FromItem: takes the rows of a function of a user
   std::string* outName = nullptr;             ///< FromItem: takes the name of its only OUT parameter
};

constexpr Oid languageC = 13;

/// A function in C that takes a record asks of which row type its argument is, since NULL does not say it.
std::vector<ExprPtr> withRowTypes(std::vector<ExprPtr> args) {
   for (ExprPtr& arg : args)
      if (arg->kind == ExprKind::Relabel && arg->type.oid == oid::record) arg = std::move(arg->args[0]);
   return args;
}

ExprPtr finishCall(BindState& state, Scope& scope, const CallSite& site, const FunctionCandidate& candidate,
                   std::vector<ExprPtr> args, uint32_t position, std::string_view name);
ExprPtr bindSpreadCall(BindState& state, Scope& scope, const CallSite& site, const FunctionInfo& function,
                       std::vector<ExprPtr> args, uint32_t position);
ExprPtr bindFunctionDefault(BindState& state, std::string_view text, Oid type);
ExprPtr registerSrf(BindState& state, Scope& scope, ExprPtr call, const std::string& name);
ExprPtr finishRoutine(BindState& state, Scope& scope, const CallSite& site, const FunctionInfo& function,
                      std::vector<ExprPtr> args, uint32_t position);

constexpr uint32_t argumentsMax = 100;

[[noreturn]] void throwNoFunction(const ::FuncCall* call, std::string_view name, std::span<const Oid> argTypes,
                                  std::span<const std::string> argNames, uint32_t position, bool isProcedure = false) {
   SqlError error(sqlstate::undefinedFunction, (isProcedure ? "procedure " : "function ") +
                                                   callSignature(name, argTypes, argNames) + " does not exist");
   error.setPosition(position);
   if (isProcedure)
      throw std::move(error).hint("No procedure matches the given name and argument types. You might need to add "
                                  "explicit type casts.");
   if (call && !ListOf<>(call->agg_order).empty() && !call->agg_within_group)
      throw std::move(error).hint("No aggregate function matches the given name and argument types. Perhaps you "
                                  "misplaced ORDER BY; ORDER BY must appear after all regular arguments of the "
                                  "aggregate.");
   throw std::move(error).hint("No function matches the given name and argument types. You might need to add explicit "
                               "type casts.");
}

/// Refuses DISTINCT, ORDER BY, FILTER, OVER, ... for a function that is no aggregate and no window function.
void refuseDecorations(const ::FuncCall& call, std::string_view name, uint32_t position) {
   const auto refuse = [&](const char* what, const char* kind) {
      throw SqlError(sqlstate::wrongObjectType,
                     std::string(what) + " specified, but " + std::string(name) + " is not " + kind)
          .at(position);
   };
   if (call.agg_star) refuse((std::string(name) + "(*)").c_str(), "an aggregate function");
   if (call.agg_distinct) refuse("DISTINCT", "an aggregate function");
   if (call.agg_within_group) refuse("WITHIN GROUP", "an ordered-set aggregate function");
   if (call.agg_order) refuse("ORDER BY", "an aggregate function");
   if (call.agg_filter) refuse("FILTER", "an aggregate function");
   if (call.over) refuse("OVER", "a window function nor an aggregate function");
}

/// The field of the only argument, a row, for a call that names no function: last(t) is t.last. Null: no such field.
ExprPtr fieldCalled(BindState& state, const ::FuncCall& call, const std::vector<ExprPtr>& args) {
   if (args.size() != 1 || !isRowType(args[0]->type.oid) || call.agg_star || call.agg_distinct || call.agg_order ||
       call.agg_filter || call.over || call.func_variadic)
      return nullptr;
   try {
      return selectField(state, clone(*args[0]), stringOf(ListOf<>(call.funcname).front()));
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::undefinedColumn) throw;
      return nullptr;
   }
}

} // namespace

void coerceArguments(BindState& state, std::vector<ExprPtr>& args, std::span<const Oid> declared) {
   for (size_t i = 0; i < args.size(); ++i) {
      args[i] = coerce(state, std::move(args[i]), declared[i], -1, CoercionContext::Implicit);
      // A literal for a parameter of type "any" is text.
      if (declared[i] == oid::any) args[i] = unknownToText(state, std::move(args[i]));
   }
}

namespace {

/// rank(direct...) WITHIN GROUP (ORDER BY sorted...): casts each direct argument and its sort column to a common type.
void uniteHypothetical(BindState& state, std::vector<ExprPtr>& args, uint32_t directCount, const std::string& signature,
                       uint32_t position) {
   const std::string name = signature.substr(0, signature.find('('));
   if (args.size() != size_t{2} * directCount)
      throw SqlError(sqlstate::undefinedFunction, "function " + signature + " does not exist")
          .at(position)
          .hint("To use the hypothetical-set aggregate " + name +
                ", the number of hypothetical direct arguments (here " + std::to_string(directCount) +
                ") must match the number of ordering columns (here " + std::to_string(args.size() - directCount) +
                ").");
   for (uint32_t i = 0; i < directCount; ++i) {
      ExprPtr* const pair[] = {&args[i], &args[directCount + i]};
      const Oid type = selectCommonType(pair, "WITHIN GROUP");
      for (ExprPtr* const arg : pair)
         *arg = withoutBlanks(coerce(state, std::move(*arg), type, -1, CoercionContext::Implicit));
   }
}

} // namespace

ExprPtr callFunction(BindState& state, Scope& scope, std::string_view name, std::vector<ExprPtr> args,
                     uint32_t position) {
   std::vector<Oid> types;
   for (const ExprPtr& arg : args)
      types.push_back(arg->type.oid);
   const auto found = resolveFunction(name, types, {}, false);
   if (found.outcome != Resolution::Found) throwNoFunction(nullptr, name, types, {}, position);
   return finishCall(state, scope, {}, found.candidate, std::move(args), position, name);
}

ExprPtr callFunction(BindState& state, Scope& scope, const FunctionInfo& function, std::vector<ExprPtr> args,
                     uint32_t position) {
   FunctionCandidate candidate;
   candidate.function = &function;
   candidate.args.assign(function.argTypes.begin(), function.argTypes.end());
   if (function.variadicElement == oid::any) {
      const size_t fixed = candidate.args.size() - 1;
      candidate.args.resize(args.size(), oid::any);
      candidate.variadicCount = static_cast<uint32_t>(args.size() - fixed);
   }
   return finishCall(state, scope, {}, candidate, std::move(args), position, function.name);
}

namespace {

/// The bounds for a range over a domain must be its values.
void castToDomain(BindState& state, const catalog::Relation& range, std::vector<ExprPtr>& args) {
   const SqlType& bound = range.columns[0].type;
   if (range.relationKind != catalog::RelationKind::Range || !bound.domain) return;
   for (size_t i = 0; i < 2; ++i)
      args[i] = intoDomain(coerce(state, std::move(args[i]), bound.oid, -1, CoercionContext::Implicit), bound);
}

/// The only routine of a kind that so many arguments may mean, or one that takes just as many; null: that is not clear.
const FunctionInfo* routineFor(const Callee& callee, size_t count, bool isProcedure) {
   const FunctionInfo* routine = nullptr;
   bool isClear = true;
   for (const FunctionInfo* one : callee.functions) {
      const size_t most = std::max(one->argModes.size(), one->argTypes.size());
      if ((one->kind == FunctionKind::Procedure) != isProcedure) continue;
      if (count > most || count + one->defaults.size() < most) continue;
      if (count == most) return one;
      isClear = routine == nullptr;
      routine = one;
   }
   return isClear ? routine : nullptr;
}

/// CALL p(1, NULL): an argument for an OUT parameter has its place, and is not evaluated. `names`: of the last
/// arguments.
void dropOutputs(const Callee& callee, std::vector<ExprPtr>& args, std::vector<Oid>& types,
                 std::vector<std::string>& names) {
   const FunctionInfo* procedure = routineFor(callee, args.size(), true);
   if (!procedure) procedure = routineFor(callee, args.size(), false); // which is then said to be none
   if (!procedure || procedure->argModes.empty()) return;
   const auto isOutput = [&](size_t i, size_t positional) {
      if (i < positional) return procedure->argModes[i] == 'o';
      for (size_t k = 0; k < procedure->argNames.size(); ++k)
         if (procedure->argNames[k] == names[i - positional]) return procedure->argModes[k] == 'o';
      return false;
   };
   for (size_t i = args.size(); i-- > 0;) {
      const size_t positional = args.size() - names.size();
      if (!isOutput(i, positional)) continue;
      args.erase(args.begin() + static_cast<ptrdiff_t>(i));
      types.erase(types.begin() + static_cast<ptrdiff_t>(i));
      if (i >= positional) names.erase(names.begin() + static_cast<ptrdiff_t>(i - positional));
   }
}

ExprPtr bindCall(BindState& state, Scope& scope, CallSite site) {
   const ::FuncCall& call = *site.call;
   const uint32_t position = state.at(call.location);
   if (ListOf<>(call.args).size() > argumentsMax)
      throw SqlError(sqlstate::tooManyArguments, "cannot pass more than 100 arguments to a function").at(position);

   std::vector<ExprPtr> args;
   std::vector<std::string> argNames;
   for (const ::Node* node : ListOf<>(call.args)) {
      if (isNode(node, T_NamedArgExpr)) {
         const std::string argName = as<NamedArgExpr>(node)->name;
         if (std::find(argNames.begin(), argNames.end(), argName) != argNames.end())
            throw SqlError(sqlstate::syntaxError, "argument name \"" + argName + "\" used more than once")
                .at(state.at(as<NamedArgExpr>(node)->location));
         argNames.push_back(argName);
      }
      auto arg = bindExpr(state, scope, node);
      if (!argNames.empty() && !isNode(node, T_NamedArgExpr))
         throw SqlError(sqlstate::syntaxError, "positional argument cannot follow named argument").at(arg->position);
      args.push_back(std::move(arg));
   }
   // JDBC's {? = call f(?)} sends its result's parameter, too, as one of type void. In a CALL it stands for an output.
   const auto isVoid = [](const ExprPtr& arg) {
      return arg->type.oid == oid::voidType && (arg->kind == ExprKind::Parameter || arg->kind == ExprKind::Constant);
   };
   if (&call == state.context.calledProcedure) {
      for (const ExprPtr& arg : args)
         if (isVoid(arg)) arg->type = plainType(oid::unknown);
   } else if (argNames.empty() && !call.agg_within_group) {
      std::erase_if(args, isVoid);
   }
   const auto directCount = static_cast<uint32_t>(args.size());
   if (call.agg_within_group) // the sort columns of WITHIN GROUP are arguments of the function
      for (const auto* sort : ListOf<SortBy>(call.agg_order))
         args.push_back(bindExpr(state, scope, sort->node));

   const Callee callee = calleeOf(state, call, scope.clause);
   const std::string &name = callee.name, &shownName = callee.shownName;
   const catalog::RelationPtr& rangeType = callee.rangeType;

   // count(t): a row of a table is never NULL, so every row counts.
   const auto* row = args.size() == 1 ? args[0]->getIf<scalar::Row>() : nullptr;
   if (name == "count" && row && !row->isNullExtended && !call.agg_distinct) args[0] = makeBoolean(true);

   std::vector<Oid> types;
   for (const ExprPtr& arg : args)
      types.push_back(arg->type.oid);
   const std::vector<Oid> given = types;
   if (&call == state.context.calledProcedure) {
      dropOutputs(callee, args, types, argNames);
      for (const ExprPtr& arg : args)
         if (const auto* parameter = arg->getIf<scalar::Parameter>();
             parameter && state.parameters[parameter->number] == oid::voidType)
            state.parameters[parameter->number] = oid::unknown;
   }
   auto found = resolveFunction(callee.isQualified ? std::string_view() : std::string_view(name), types, argNames,
                                call.func_variadic, callee.functions, callee.extensionType);
   switch (found.outcome) {
   case Resolution::Found: break;
   case Resolution::Cast: {
      refuseDecorations(call, shownName, position);
      const SqlType target = plainType(found.castTarget);
      return coerce(state, std::move(args[0]), target.oid, -1, CoercionContext::Explicit);
   }
   case Resolution::Ambiguous:
      throw SqlError(sqlstate::ambiguousFunction,
                     "function " + callSignature(shownName, types, argNames) + " is not unique")
          .at(position)
          .hint("Could not choose a best candidate function. You might need to add explicit type casts.");
   case Resolution::None:
      if (rangeType && args.size() == 1 && types[0] == oid::unknown && argNames.empty()) // as PostgreSQL, a cast
         return coerce(state, std::move(args[0]), rangeType->rowType, -1, CoercionContext::Explicit);
      if (argNames.empty() && !callee.isQualified)
         if (ExprPtr field = fieldCalled(state, call, args)) return field;
      throwNoFunction(&call, shownName, given, argNames, position, &call == state.context.calledProcedure);
   }
   if (rangeType || found.candidate.function->oid >= firstUserOid) // ROW(...) gets the type of the parameter
      for (size_t i = 0; i < args.size(); ++i)
         if (args[i]->type.oid == oid::record && isRowType(found.candidate.args[i]))
            args[i] = coerce(state, std::move(args[i]), found.candidate.args[i], -1, CoercionContext::Implicit);
   for (ExprPtr& arg : args)
      arg = rowValue(state, std::move(arg));
   if (rangeType) castToDomain(state, *rangeType, args);
   if (const FunctionInfo* twin = builtinTwin(state, call, *found.candidate.function)) found.candidate.function = twin;
   if (call.agg_within_group) {
      const auto aggregate = catalog::aggregateKind(state.context.catalog, found.candidate.function->oid);
      if (aggregate && aggregate->first == AggregateKind::Normal)
         throw SqlError(sqlstate::wrongObjectType,
                        shownName + " is not an ordered-set aggregate, so it cannot have WITHIN GROUP")
             .at(position);
      if (aggregate && aggregate->first == AggregateKind::OrderedSet &&
          static_cast<uint32_t>(aggregate->second) != directCount)
         throwNoFunction(nullptr, shownName, types, argNames, position);
      if (aggregate && aggregate->first == AggregateKind::Hypothetical)
         uniteHypothetical(state, args, directCount, callSignature(shownName, types, argNames), position);
   }
   site.directCount = directCount;
   return finishCall(state, scope, site, found.candidate, std::move(args), position, shownName);
}

/// Defaults without a type, as NULL, get the type that the other arguments give a polymorphic parameter.
void castUntyped(BindState& state, const FunctionInfo& function, std::vector<ExprPtr>& args) {
   std::vector<Oid> actual, declared(function.argTypes.begin(), function.argTypes.end());
   for (const ExprPtr& arg : args)
      actual.push_back(arg->type.oid);
   enforceGenericConsistency(actual, declared, function.returnType);
   for (size_t i = 0; i < args.size(); ++i)
      if (args[i]->type.oid == oid::unknown)
         args[i] = coerce(state, std::move(args[i]), declared[i], -1, CoercionContext::Implicit);
}

/// A window function of a user is called for each row as other functions are, but its arguments are NULL: only
/// functions in C could ask for rows of the window. A call of row_number() stands for it, so that the window is
/// checked.
void bindUserWindow(BindState& state, Scope& scope, const ::FuncCall& call, const FunctionInfo& function) {
   if (function.returnsSet)
      throw SqlError(sqlstate::invalidFunctionDefinition, "window functions cannot return sets")
          .at(state.at(call.location));
   FunctionCandidate rowNumber;
   rowNumber.function = builtins().functions("row_number")[0];
   bindWindowCall(state, scope, call, rowNumber, {}, plainType(oid::int8));
}

ExprPtr finishCall(BindState& state, Scope& scope, const CallSite& site, const FunctionCandidate& candidate,
                   std::vector<ExprPtr> args, uint32_t position, std::string_view name) {
   const FunctionInfo& function = *candidate.function;
   const ::FuncCall* call = site.call;
   std::vector<Oid> types;
   for (const ExprPtr& arg : args)
      types.push_back(arg->type.oid);
   std::vector<Oid> declared = candidate.args;
   Oid resultOid = 0;
   try {
      resultOid = enforceGenericConsistency(types, declared, function.returnType);
   } catch (SqlError& error) {
      error.setPosition(position);
      throw;
   }
   // pg_typeof of a literal gives unknown; for other functions of type "any" a literal is text.
   if (function.name == "pg_typeof" && types[0] == oid::unknown) {
      auto unknownType = makeConstant(plainType(oid::regtype), Value::integer(PhysicalType::I64, oid::unknown));
      unknownType->position = position;
      return unknownType;
   }
   if (function.name == "pg_collation_for") return bindCollationFor(state, std::move(args[0]), position);
   // json_populate_record(NULL::d, ...) gives a value of the domain d.
   const bool fillsRows = function.name.find("_populate_record") != std::string_view::npos;
   if (fillsRows && function.oid < firstUserOid && !isRowType(args[0]->type.oid))
      throw SqlError(sqlstate::datatypeMismatch,
                     "first argument of " + std::string(function.name) + " must be a row type");
   const SqlType filled = fillsRows ? args[0]->type : SqlType();
   coerceArguments(state, args, declared);
   if (function.language == languageC) args = withRowTypes(std::move(args));
   SqlType resultType = plainType(resultOid);
   // The result of a function has no length. One that returns an argument still takes character(n) as it lies in memory
   // where all have one n, and its result gets the blanks; else the arguments get them.
   if (resultOid == oid::bpchar && function.source != "bpchar") { // bpchar(c, n, ...) makes a new value
      std::vector<ExprPtr*> same;
      for (ExprPtr& arg : args)
         if (arg->type.oid == oid::bpchar) same.push_back(&arg);
      if (!same.empty()) resultType = unite(same, resultOid);
   }

   // Named notation: put the arguments into the order of the parameters.
   const uint32_t parameters = function.argCount();
   if (!candidate.argOrder.empty()) {
      std::vector<ExprPtr> ordered(parameters);
      for (size_t i = 0; i < args.size(); ++i)
         ordered[candidate.argOrder[i]] = std::move(args[i]);
      args = std::move(ordered);
   } else if (candidate.defaultCount > 0) {
      args.resize(parameters);
   }
   const auto defaultsFrom = parameters - static_cast<uint32_t>(function.defaults.size());
   bool hasUntyped = false;
   for (uint32_t i = 0; i < parameters && i < args.size(); ++i) {
      if (args[i]) continue;
      args[i] = bindFunctionDefault(state, function.defaults[i - defaultsFrom], function.argTypes[i]);
      hasUntyped = hasUntyped || args[i]->type.oid == oid::unknown;
   }
   if (hasUntyped) castUntyped(state, function, args);

   // The variadic arguments become one array, unless the function is VARIADIC "any".
   if (candidate.variadicCount > 0 && function.variadicElement != oid::any) {
      std::vector<ExprPtr> tail;
      const size_t from = args.size() - candidate.variadicCount;
      for (size_t i = from; i < args.size(); ++i)
         tail.push_back(std::move(args[i]));
      args.resize(from);
      // All elements of an array have one type; for a polymorphic parameter the casts above have made the types equal.
      const Oid element = tail[0]->type.oid;
      const Oid array = arrayType(element);
      if (!array)
         throw SqlError(sqlstate::undefinedObject, "could not find array type for data type " + typeName(element))
             .at(position);
      args.push_back(makeArrayExpr(std::move(tail), array, position));
   }

   if (function.oid < firstUserOid) noteBuiltin(state, function);
   if (call && call->func_variadic && function.variadicElement == oid::any)
      return bindSpreadCall(state, scope, site, function, std::move(args), position);

   if (call && call == state.context.calledProcedure && function.kind != FunctionKind::Procedure)
      throw SqlError(sqlstate::wrongObjectType, callSignature(name, types, {}) + " is not a procedure")
          .at(position)
          .hint("To call a function, use SELECT.");
   if (function.oid >= firstUserOid && function.language == catalog::language_oid::internal &&
       function.kind != FunctionKind::Aggregate) {
      noteRoutine(state, call, function);
      const FunctionInfo* builtin = catalog::internalFunction(function);
      if (!builtin)
         throwNotSupported("function " + callSignature(name, types, {}) + ", whose types are not those of " +
                               std::string(function.source) + ",",
                           position);
      FunctionCandidate named;
      named.function = builtin;
      named.args.assign(builtin->argTypes.begin(), builtin->argTypes.end());
      return finishCall(state, scope, site, named, std::move(args), position, name);
   }
   switch (function.kind) {
   case FunctionKind::Aggregate:
      if (call && function.oid >= firstUserOid)
         return withBlanks(
             bindUserAggregate(state, scope, *call, candidate, std::move(args), resultType, site.directCount));
      if (call && call->over)
         return withBlanks(bindWindowCall(state, scope, *call, candidate, std::move(args), resultType));
      if (!call) throwInternal("aggregate called by name");
      return withBlanks(bindAggregate(state, scope, *call, candidate, std::move(args), resultType, site.directCount));
   case FunctionKind::Window:
      if (!call || !call->over)
         throw SqlError(sqlstate::wrongObjectType, "window function " + std::string(name) + " requires an OVER clause")
             .at(position);
      if (function.oid >= firstUserOid) {
         bindUserWindow(state, scope, *call, function);
         for (ExprPtr& arg : args)
            arg = makeNull(arg->type);
         break;
      }
      return withBlanks(bindWindowCall(state, scope, *call, candidate, std::move(args), resultType));
   case FunctionKind::Procedure:
      if (call && call == state.context.calledProcedure) break;
      throw SqlError(sqlstate::wrongObjectType, callSignature(name, types, {}) + " is a procedure")
          .at(position)
          .hint("To call a procedure, use CALL.");
   case FunctionKind::Function: break;
   }
   if (call && function.kind != FunctionKind::Window) refuseDecorations(*call, name, position);
   if (function.oid >= firstUserOid) {
      noteRoutine(state, site.call, function);
      if (function.language != catalog::language_oid::c || isRunBySession(function))
         return finishRoutine(state, scope, site, function, std::move(args), position);
   }
   constexpr Oid sqlLanguage = 14;
   if (function.language == sqlLanguage && !function.returnsSet)
      if (auto inlined = inlineSqlFunction(state, function, args, resultType)) {
         inlined->position = position;
         return inlined;
      }
   if (!function.returnsSet)
      if (auto value = bindViewValue(state, function, args)) {
         value->position = position;
         return value;
      }
   if (auto cast = bindInOutCall(function, args, position)) return withBlanks(std::move(cast));
   state.runsRoutines |= function.source.starts_with("be_lo"); // large objects: the session has the descriptors
   state.runsRoutines |= function.source.starts_with("ts_stat") || function.source == "tsquery_rewrite_query";
   const bool isMade = function.oid >= firstUserOid;
   state.runsRoutines |= !isMade && function.source.find("_to_xml") != std::string_view::npos; // they run queries
   auto expr = makeCall(isMade ? catalog::lastingInfo(state.context.catalog.function(function.oid)) : &function,
                        resultType, std::move(args));
   expr->position = position;
   if (filled.domain && !function.returnsSet) return intoDomain(std::move(expr), filled);
   if (site.place == CallPlace::Expression && resultOid == oid::record && !function.argModes.empty())
      return registerRowFunction(state, scope, std::move(expr));
   if (site.place == CallPlace::FromItem) {
      expr->type.domain = filled.domain; // whose checks bindTableFunction() adds
      return withBlanks(std::move(expr));
   }
   if (!function.returnsSet) return withBlanks(std::move(expr));
   auto rows = registerSrf(state, scope, std::move(expr), std::string(function.name));
   return filled.domain ? intoDomain(std::move(rows), filled) : std::move(rows);
}

ExprPtr finishRoutine(BindState& state, Scope& scope, const CallSite& site, const FunctionInfo& function,
                      std::vector<ExprPtr> args, uint32_t position) {
   RoutineCall routine{state.context.catalog.function(function.oid), std::move(args), {}, position};
   size_t input = 0;
   for (const catalog::FunctionParameter& parameter : routine.function->parameters) {
      if (!parameter.isInput()) continue;
      ExprPtr& arg = routine.args[input++];
      if (parameter.type.domain) arg = intoDomain(std::move(arg), parameter.type);
      routine.declared.push_back(isPolymorphic(parameter.type.oid) ? arg->type.oid : parameter.type.oid);
   }
   if (site.outName && std::count_if(routine.function->parameters.begin(), routine.function->parameters.end(),
                                     [](const auto& parameter) { return parameter.isOutput(); }) == 1)
      for (const catalog::FunctionParameter& parameter : routine.function->parameters)
         if (parameter.isOutput()) *site.outName = parameter.name;
   if (site.call && site.call == state.context.calledProcedure && state.context.called && site.rows) {
      *site.rows = argumentsOf(state, scope, std::move(routine), *state.context.called);
      return nullptr;
   }
   if (site.place == CallPlace::FromItem && site.rows) {
      *site.rows = routineRows(state, scope, routine, site.definitions);
      if (*site.rows) return nullptr;
   }
   const std::string name = routine.function->name;
   const bool returnsSet = function.returnsSet;
   const auto called = routine.function;
   const std::vector<Oid> declared = routine.declared;
   ExprPtr value = routineValue(state, scope, std::move(routine));
   if (!returnsSet) return value;
   // The set itself, or a field of its rows.
   const FunctionInfo* outer = functionOf(*value);
   ExprPtr& set = outer && !outer->returnsSet ? value->args[0] : value;
   set = registerSrf(state, scope, std::move(set), name);
   return value->type.oid == oid::record ? fieldsOfRoutine(state, *called, declared, std::move(value))
                                         : std::move(value);
}

/// f(a, VARIADIC array) of a function whose arguments may have any types: the twin of the function takes the array.
ExprPtr bindSpreadCall(BindState& state, Scope& scope, const CallSite& site, const FunctionInfo& function,
                       std::vector<ExprPtr> args, uint32_t position) {
   if (!builtins().isArray(args.back()->type.oid))
      throw SqlError(sqlstate::datatypeMismatch, "VARIADIC argument must be an array").at(args.back()->position);
   const auto twins = builtins().functions("ouzel_spread_" + std::string(function.name));
   if (twins.empty()) throwNotSupported("VARIADIC in a call of " + std::string(function.name), position);
   FunctionCandidate candidate;
   candidate.function = twins[0];
   candidate.args.assign(twins[0]->argTypes.begin(), twins[0]->argTypes.end());
   CallSite plain = site;
   plain.call = nullptr;
   return finishCall(state, scope, plain, candidate, std::move(args), position, function.name);
}

ExprPtr bindFunctionDefault(BindState& state, std::string_view text, Oid type) {
   const auto script = ParsedScript::parseExpression(text);
   const SourceText* outer = std::exchange(state.source, nullptr);
   Scope scope(nullptr);
   scope.clause = Clause::Default;
   auto expr = bindExpr(state, scope, script.expression());
   state.source = outer;
   if (isPolymorphic(type)) return expr;
   return coerce(state, std::move(expr), type, -1, CoercionContext::Explicit);
}

ExprPtr registerSrf(BindState& state, Scope& scope, ExprPtr call, const std::string& name) {
   const uint32_t position = call->position;
   const auto refuse = [&](std::string message, std::string hint = {}) {
      throw SqlError(sqlstate::featureNotSupported, message).at(position).hint(hint);
   };
   constexpr const char* lateralHint = "You might be able to move the set-returning function into a LATERAL FROM item.";
   if (scope.srfBlocker)
      refuse(std::string("set-returning functions are not allowed in ") + scope.srfBlocker, lateralHint);
   switch (scope.clause) {
   case Clause::Select:
   case Clause::GroupBy:
   case Clause::OrderBy:
   case Clause::DistinctOn:
   case Clause::InsertValues: break;
   case Clause::FromFunction: refuse("set-returning functions must appear at top level of FROM"); break;
   case Clause::UpdateSource: refuse("set-returning functions are not allowed in UPDATE"); break;
   default: refuse("set-returning functions are not allowed in " + std::string(clauseName(scope.clause)));
   }
   const FunctionInfo* called = functionOf(*call);
   const bool isBuiltIn = called && called->oid < firstUserOid && called->name == name;
   if (isBuiltIn && (name == "json_to_recordset" || name == "jsonb_to_recordset"))
      throw SqlError(sqlstate::featureNotSupported, "could not determine row type for result of " + name)
          .hint("Provide a non-null record argument, or call the function in the FROM clause using a column definition "
                "list.");
   const SqlType type = call->type;
   const auto known = std::find_if(scope.srfs.begin(), scope.srfs.end(),
                                   [&](const TargetSrf& srf) { return equal(*srf.call, *call); });
   // GROUP BY and ORDER BY mean the call of the select list that they repeat. Equal calls of the select list give the
   // same rows unless they are volatile.
   const bool isKnown = known != scope.srfs.end() && (scope.clause != Clause::Select || !isVolatile(*call));
   ColumnId column = isKnown ? known->column : noColumn;
   if (!isKnown) {
      column = state.addColumn(scope, name, type);
      state.setKind(column, ColumnKind::Srf);
      scope.srfs.push_back({column, std::move(call)});
   }
   auto reference = makeColumn(column, type);
   reference->position = position;
   return reference;
}

} // namespace

ExprPtr bindFunctionCall(BindState& state, Scope& scope, const ::FuncCall& call) {
   return bindCall(state, scope, {.call = &call});
}

FromCall bindFromCall(BindState& state, Scope& scope, const ::FuncCall& call, const ::List* definitions) {
   const DepthGuard guard(state);
   FromCall from;
   from.call = bindCall(state, scope, {&call, CallPlace::FromItem, 0, definitions, &from.rows, &from.outName});
   return from;
}

} // namespace ouzel::sql
