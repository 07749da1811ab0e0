#include "sql/bind/expression/user_aggregate.hpp"

#include <algorithm>

#include "catalog/object/acl.hpp"
#include "catalog/object/function.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/expression/aggregate.hpp"
#include "sql/bind/expression/function_call.hpp"
#include "sql/bind/expression/window_call.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/collation.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

using catalog::AggregateDefinition;
using catalog::AggregateInfo;
using catalog::builtins;
using catalog::FunctionInfo;

namespace {

/// The functions that PostgreSQL calls for a kind of frame: the plain or the moving ones.
struct Parts {
   bool isMoving;
   Oid transition, inverse, final;
   bool finalTakesArgs;
   const SqlType& stateType;
   const std::optional<std::string>& initial;
};

Parts partsOf(const AggregateDefinition& aggregate, bool isMoving) {
   if (isMoving)
      return {true,
              aggregate.movingTransition,
              aggregate.movingInverse,
              aggregate.movingFinal,
              aggregate.movingFinalTakesArgs,
              aggregate.movingStateType,
              aggregate.movingInitial};
   return {false,
           aggregate.transition,
           invalidOid,
           aggregate.final,
           aggregate.finalTakesArgs,
           aggregate.stateType,
           aggregate.initial};
}

const FunctionInfo& requireFunction(const BindState& state, Oid oid) {
   const FunctionInfo* function = catalog::functionInfo(state.context.catalog, oid);
   if (!function) throwInternal("a function of an aggregate does not exist");
   return *function;
}

/// The caller may execute the aggregate. A text of the catalog names it by its OID.
void noteCall(BindState& state, const ::FuncCall& call, Oid aggregate) {
   const Oid caller = state.openRoutines.empty() ? invalidOid : state.routineRole;
   state.access.of(aggregate, caller).privileges |= catalog::privilege::execute;
   if (state.recorder && state.source && call.location >= 0)
      state.recorder->nameFunction(call.location, ListOf<>(call.funcname).size(), aggregate, state.source->text());
}

/// Binds one call.
class UserAggregate {
public:
   UserAggregate(BindState& state, Scope& scope, const ::FuncCall& call, const FunctionCandidate& candidate)
      : state_(state), scope_(scope), call_(call), candidate_(candidate),
        function_(state.context.catalog.function(candidate.function->oid)), position_(state.at(call.location)) {}

   ExprPtr bind(std::vector<ExprPtr> args, const SqlType& resultType, uint32_t directCount) {
      const AggregateDefinition& aggregate = *function_->aggregate;
      const Parts parts = partsOf(aggregate, aggregate.isMoving() && isMovingFrame(args));
      if (parts.stateType.oid == oid::internal)
         throwNotSupported("aggregate " + function_->name + ", whose state is of type internal,", position_);
      if (aggregate.kind != catalog::AggregateKind::Normal && !call_.agg_within_group)
         throw SqlError(sqlstate::wrongObjectType,
                        "WITHIN GROUP is required for ordered-set aggregate " + function_->name)
             .at(position_);
      noteUse();
      for (size_t i = 0; i < args.size() && i < function_->parameters.size(); ++i)
         if (function_->parameters[i].type.domain)
            args[i] = intoDomain(std::move(args[i]), function_->parameters[i].type);
      for (const ExprPtr& arg : args)
         types_.push_back(arg->type);
      std::vector<ExprPtr> direct;
      if (call_.agg_within_group) {
         for (uint32_t i = 0; i < directCount; ++i)
            direct.push_back(std::move(args[i]));
         args.erase(args.begin(), args.begin() + directCount);
      }
      const SqlType stateType = settleCall(state_, *candidate_.function, args, stateTypeOf(parts));
      if (isArrayAgg(parts, stateType, args)) return finish(arrayAgg(parts, stateType, std::move(args)), resultType);
      FoldPtr fold = makeFold(parts, stateType, args);
      ExprPtr initial = fold->initial ? clone(*fold->initial) : nullptr;
      std::vector<ColumnId> columns;
      for (const ExprPtr& arg : args)
         collectColumns(*arg, columns);
      ExprPtr value = foldRows(std::move(args), stateType, std::move(fold));
      if (initial) value = orInitial(countRows(columns), std::move(value), std::move(initial));
      if (parts.final != invalidOid) value = finished(parts, std::move(value), std::move(direct));
      return finish(std::move(value), resultType);
   }

private:
   ExprPtr finish(ExprPtr value, const SqlType& resultType) {
      if (value->type.oid != resultType.oid)
         value = coerce(state_, std::move(value), resultType.oid, -1, CoercionContext::Explicit);
      value->position = position_;
      return value;
   }

   /// Whether array_append() collects the only argument: array_agg() does not copy the array for each row.
   bool isArrayAgg(const Parts& parts, const SqlType& stateType, const std::vector<ExprPtr>& args) const {
      constexpr Oid arrayAppend = 378;
      return parts.transition == arrayAppend && parts.final == invalidOid && !call_.agg_within_group &&
             (!parts.initial || *parts.initial == "{}") && args.size() == 1 && !stateType.domain &&
             elementType(stateType.oid) == args[0]->type.oid && !elementType(args[0]->type.oid);
   }

   ExprPtr arrayAgg(const Parts& parts, const SqlType& stateType, std::vector<ExprPtr> args) {
      const Oid declared = 2776; // anynonarray
      FunctionCandidate candidate;
      candidate.function = builtins().findFunction("array_agg", {&declared, 1});
      ExprPtr value = call_.over ? bindWindowCall(state_, scope_, call_, candidate, std::move(args), stateType)
                                 : bindAggregate(state_, scope_, call_, candidate, std::move(args), stateType, 0);
      if (!parts.initial) return value;
      auto known = makeTyped(ExprKind::Coalesce, stateType);
      known->args.push_back(std::move(value));
      known->args.push_back(coerce(state_, makeConstant(plainType(oid::unknown), Value::string(*parts.initial)),
                                   stateType.oid, -1, CoercionContext::Explicit));
      return known;
   }

   /// Whether rows leave the frame at its start.
   bool isMovingFrame(const std::vector<ExprPtr>& args) const {
      if (!call_.over) return false;
      const ::WindowDef& window =
          call_.over->name
              ? findWindow(scope_, call_.over->name, state_.at(call_.over->location), scope_.namedWindows.size())
              : *call_.over;
      if ((window.frameOptions & FRAMEOPTION_START_UNBOUNDED_PRECEDING) != 0) return false;
      return std::none_of(args.begin(), args.end(), [](const ExprPtr& arg) { return isVolatile(*arg); });
   }

   /// The owner of the aggregate may execute the functions that it calls.
   void noteUse() {
      noteCall(state_, call_, function_->oid);
      for (const Oid used : function_->aggregate->functions())
         if (used >= firstUserOid) state_.access.of(used, function_->owner).privileges |= catalog::privilege::execute;
   }

   SqlType stateTypeOf(const Parts& parts) const {
      if (!isPolymorphic(parts.stateType.oid))
         return parts.stateType.domain ? parts.stateType : plainType(parts.stateType.oid);
      std::vector<Oid> actual;
      for (const SqlType& type : types_)
         actual.push_back(type.oid);
      std::vector<Oid> declared =
          candidate_.function->argTypes.size() == actual.size()
              ? std::vector<Oid>(candidate_.function->argTypes.begin(), candidate_.function->argTypes.end())
              : candidate_.args;
      return plainType(enforceGenericConsistency(actual, declared, parts.stateType.oid));
   }

   /// `args`: those that come with each row.
   FoldPtr makeFold(const Parts& parts, const SqlType& stateType, const std::vector<ExprPtr>& args) {
      const FunctionInfo& transition = requireFunction(state_, parts.transition);
      auto fold = std::make_shared<Fold>();
      fold->aggregate = function_->oid;
      fold->isMoving = parts.isMoving;
      fold->isStrict = transition.isStrict;
      BindState inner(state_.context);
      inner.source = nullptr;
      inner.columns.collations = state_.columns.collations;
      inner.hasCollations = state_.hasCollations;
      inner.openRoutines = state_.openRoutines;
      inner.routineRole = state_.routineRole;
      inner.bodyPath = state_.bodyPath;
      inner.naming.usePath(state_.bodyPath);
      Scope scope(nullptr);
      scope.clause = Clause::Transition;
      fold->state = inner.addColumn(noLevel, "state", stateType);
      std::vector<ExprPtr> inputs;
      inputs.push_back(makeColumn(fold->state, stateType));
      for (const ExprPtr& arg : args) {
         fold->inputs.push_back(inner.addColumn(noLevel, "argument", arg->type));
         inputs.push_back(makeColumn(fold->inputs.back(), arg->type));
      }
      const auto asState = [&](ExprPtr value) {
         return coerce(inner, std::move(value), stateType.oid, -1, CoercionContext::Explicit);
      };
      if (parts.initial)
         fold->initial = asState(makeConstant(plainType(oid::unknown), Value::string(*parts.initial)));
      else if (fold->isStrict)
         fold->first = asState(clone(*inputs.at(1)));
      if (parts.inverse != invalidOid) {
         std::vector<ExprPtr> same;
         for (const ExprPtr& input : inputs)
            same.push_back(clone(*input));
         fold->inverse =
             asState(callFunction(inner, scope, requireFunction(state_, parts.inverse), std::move(same), position_));
      }
      fold->transition = asState(callFunction(inner, scope, transition, std::move(inputs), position_));
      if (inner.hasCollations)
         for (ExprPtr* expr : {&fold->transition, &fold->inverse})
            if (*expr) settleCollations(inner, **expr);
      fold->columns = std::move(inner.columns);
      state_.runsRoutines |= inner.runsRoutines;
      state_.callsMutable |= inner.callsMutable;
      return fold;
   }

   ExprPtr foldRows(std::vector<ExprPtr> args, const SqlType& stateType, FoldPtr fold) {
      if (call_.over)
         return bindWindowCall(state_, scope_, call_, candidate_, std::move(args), stateType, std::move(fold));
      return bindAggregate(state_, scope_, call_, candidate_, std::move(args), stateType, 0, std::move(fold));
   }

   /// count(*) over the rows that the aggregate takes. It reads the columns of its arguments, so that both belong to
   /// the same query level.
   ExprPtr countRows(const std::vector<ColumnId>& columns) {
      std::vector<ExprPtr> tests;
      for (const ColumnId column : columns)
         tests.push_back(makeTest(ExprKind::IsNull, makeColumn(column, state_.columns[column].type)));
      ::FuncCall plain = call_;
      plain.agg_order = nullptr;
      plain.agg_distinct = plain.agg_within_group = false;
      plain.agg_star = tests.empty();
      FunctionCandidate count;
      std::vector<ExprPtr> counted;
      const Oid any = oid::any;
      if (tests.empty()) {
         count.function = builtins().findFunction("count", {});
      } else {
         count.function = builtins().findFunction("count", {&any, 1});
         counted.push_back(makeOr(std::move(tests)));
      }
      const SqlType type = plainType(oid::int8);
      if (call_.over) return bindWindowCall(state_, scope_, plain, count, std::move(counted), type);
      return bindAggregate(state_, scope_, plain, count, std::move(counted), type, 0);
   }

   /// Of no rows, the state is the initial one.
   static ExprPtr orInitial(ExprPtr counted, ExprPtr value, ExprPtr initial) {
      const SqlType type = value->type;
      auto none = makeCompare(CompareOp::Eq, std::move(counted),
                              makeConstant(plainType(oid::int8), Value::integer(PhysicalType::I64, 0)));
      auto chosen = makeTyped(ExprKind::Case, type);
      chosen->args.push_back(std::move(none));
      chosen->args.push_back(std::move(initial));
      chosen->args.push_back(std::move(value));
      return chosen;
   }

   ExprPtr finished(const Parts& parts, ExprPtr value, std::vector<ExprPtr> direct) {
      std::vector<ExprPtr> args;
      args.push_back(std::move(value));
      const size_t directCount = direct.size();
      for (ExprPtr& arg : direct)
         args.push_back(std::move(arg));
      for (size_t i = directCount; parts.finalTakesArgs && i < types_.size(); ++i)
         args.push_back(makeConstant(types_[i], Value::null(storedRepresentation(types_[i]).physical)));
      return callFunction(state_, scope_, requireFunction(state_, parts.final), std::move(args), position_);
   }

   BindState& state_;
   Scope& scope_;
   const ::FuncCall& call_;
   const FunctionCandidate& candidate_;
   const catalog::FunctionPtr function_;
   const uint32_t position_;
   std::vector<SqlType> types_; ///< of the call's arguments
};

} // namespace

ExprPtr bindUserAggregate(BindState& state, Scope& scope, const ::FuncCall& call, const FunctionCandidate& candidate,
                          std::vector<ExprPtr> args, const SqlType& resultType, uint32_t directCount) {
   return UserAggregate(state, scope, call, candidate).bind(std::move(args), resultType, directCount);
}

const FunctionInfo* builtinTwin(BindState& state, const ::FuncCall& call, const FunctionInfo& function) {
   const AggregateDefinition* own = catalog::userAggregate(state.context.catalog, function.oid);
   if (!own) return nullptr;
   for (const AggregateInfo& builtin : builtins().aggregates()) {
      const FunctionInfo& candidate = *builtins().function(builtin.function);
      const bool isSame = builtin.transition == own->transition && builtin.final == own->final &&
                          builtin.kind == own->kind && builtin.directArgs == own->directArgs &&
                          builtin.transitionType == own->stateType.named() && builtin.initial == own->initial &&
                          candidate.variadicElement == function.variadicElement &&
                          std::equal(candidate.argTypes.begin(), candidate.argTypes.end(), function.argTypes.begin(),
                                     function.argTypes.end());
      if (!isSame) continue;
      noteCall(state, call, function.oid);
      return &candidate;
   }
   return nullptr;
}

const FunctionInfo* foldFunction() {
   static const FunctionInfo* const fold = builtins().functions("ouzel_fold")[0];
   return fold;
}

} // namespace ouzel::sql
