#include <algorithm>
#include <cctype>

#include "catalog/object/function_text.hpp"
#include "catalog/object/membership.hpp"
#include "common/type/text_codec.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/function/aggregate_options.hpp"
#include "engine/definition/function/function.hpp"
#include "engine/definition/function/function_use.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/type/user_type.hpp"
#include "sql/bind/type/overload_resolution.hpp"
#include "sql/bind/type/type_rules.hpp"

// CREATE AGGREGATE. What its functions take and give is checked as PostgreSQL's AggregateCreate does.

namespace ouzel::engine {

using catalog::AggregateDefinition;
using catalog::AggregateKind;
using catalog::FunctionDefinition;
using catalog::FunctionKind;
using catalog::FunctionParameter;
using sql::as;
using sql::isNode;
using sql::ListOf;

namespace {

[[noreturn]] void refuse(const std::string& message) {
   throw SqlError(sqlstate::invalidFunctionDefinition, message);
}

/// Reads one CREATE AGGREGATE.
class AggregateDraft {
public:
   AggregateDraft(CommandContext& context, const ::DefineStmt& statement)
      : context_(context), core_(context.core), statement_(statement), options_(core_, statement.definition) {}

   FunctionDefinition read() {
      function_.functionKind = FunctionKind::Aggregate;
      function_.language = catalog::language_oid::internal;
      function_.volatility = catalog::Volatility::Immutable;
      function_.cost = 1;
      function_.source = "aggregate_dummy";
      function_.parallel = options_.parallel;
      requireConsistent();
      if (statement_.oldstyle)
         readOldArguments();
      else
         readArguments();
      readStateTypes();
      for (const FunctionParameter& parameter : function_.parameters) {
         types_.push_back(parameter.type.named());
         inputs_.push_back(parameter.type);
      }
      checkArguments();
      findTransition();
      if (!options_.movingTransition.empty()) findMoving();
      findFinal();
      findParallel();
      checkResult();
      if (options_.movingStateType) findMovingFinal();
      findSortOperator();
      for (const FunctionParameter& parameter : function_.parameters)
         requireTypeUsage(core_, parameter.type);
      for (const SqlType& type : {state_, movingState_, function_.returnType})
         if (type.oid != invalidOid) requireTypeUsage(core_, type);
      function_.aggregate = std::move(aggregate_);
      return std::move(function_);
   }

private:
   using Names = std::vector<std::string>;

   void requireConsistent() const {
      const AggregateOptions& o = options_;
      if (!o.stateType) refuse("aggregate stype must be specified");
      if (o.transition.empty()) refuse("aggregate sfunc must be specified");
      if (o.movingStateType) {
         if (o.movingTransition.empty()) refuse("aggregate msfunc must be specified when mstype is specified");
         if (o.movingInverse.empty()) refuse("aggregate minvfunc must be specified when mstype is specified");
         return;
      }
      if (!o.movingTransition.empty()) refuse("aggregate msfunc must not be specified without mstype");
      if (!o.movingInverse.empty()) refuse("aggregate minvfunc must not be specified without mstype");
      if (!o.movingFinal.empty()) refuse("aggregate mfinalfunc must not be specified without mstype");
      if (o.movingStateSpace != 0) refuse("aggregate msspace must not be specified without mstype");
      if (o.movingInitial) refuse("aggregate minitcond must not be specified without mstype");
   }

   void readOldArguments() {
      if (!options_.baseType) refuse("aggregate input type must be specified");
      std::string word = textOf(*options_.baseType);
      std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::toupper(c); });
      if (word == "ANY") return;
      FunctionParameter parameter;
      parameter.type = typeOf(context_, *options_.baseType);
      function_.parameters.push_back(std::move(parameter));
   }

   /// The arguments, and how many of them come before ORDER BY: -1 for none.
   void readArguments() {
      if (options_.baseType) refuse("basetype is redundant with aggregate input type specification");
      const ListOf<> parts(statement_.args);
      const int directArgs = as<::Integer>(parts.back())->ival;
      const ::List* list = parts.front() ? as<::List>(parts.front()) : nullptr;
      bool hasVariadic = false;
      for (const ::FunctionParameter* node : ListOf<::FunctionParameter>(list)) {
         FunctionParameter parameter;
         parameter.mode = node->mode == FUNC_PARAM_DEFAULT ? 'i' : static_cast<char>(node->mode);
         parameter.name = node->name ? node->name : "";
         if (node->argType->setof) refuse("aggregates cannot accept set arguments");
         if (!parameter.isInput() || parameter.isOutput()) refuse("aggregates cannot have output arguments");
         parameter.type = plainTypeOf(context_, *node->argType);
         if (hasVariadic) refuse("VARIADIC parameter must be the last input parameter");
         if (parameter.mode == 'v') {
            hasVariadic = true;
            const Oid type = parameter.type.oid;
            if (type != oid::any && type != oid::anyarray && type != oid::anycompatiblearray && !sql::elementType(type))
               refuse("VARIADIC parameter must be an array");
         }
         function_.parameters.push_back(std::move(parameter));
      }
      if (function_.parameters.size() > 99)
         throw SqlError(sqlstate::tooManyArguments, "aggregates cannot have more than 99 arguments");
      if (directArgs >= 0) {
         aggregate_.kind = options_.isHypothetical ? AggregateKind::Hypothetical : AggregateKind::OrderedSet;
         aggregate_.directArgs = static_cast<int16_t>(directArgs);
      } else if (options_.isHypothetical) {
         refuse("only ordered-set aggregates can be hypothetical");
      }
   }

   void readStateTypes() {
      const auto read = [&](const ::DefElem& option) {
         const SqlType type = typeOf(context_, option);
         if (!sql::isPseudoType(type.oid) || sql::isPolymorphic(type.oid)) return type;
         if (type.oid == oid::internal && isBySuperuser()) return type;
         refuse("aggregate transition data type cannot be " + sql::typeName(type.oid));
      };
      state_ = read(*options_.stateType);
      aggregate_.stateType = state_;
      aggregate_.stateSpace = options_.stateSpace;
      const bool isInternal = state_.oid == oid::internal;
      if (options_.serialize.empty() != options_.deserialize.empty())
         refuse("must specify both or neither of serialization and deserialization functions");
      if (!options_.serialize.empty() && !isInternal)
         refuse("serialization functions may be specified only when the aggregate transition data type is internal");
      if (options_.movingStateType) {
         movingState_ = read(*options_.movingStateType);
         aggregate_.movingStateType = movingState_;
         aggregate_.movingStateSpace = options_.movingStateSpace;
      }
      aggregate_.initial = options_.initial;
      aggregate_.movingInitial = options_.movingInitial;
      requireText(state_, options_.initial);
      if (options_.movingStateType) requireText(movingState_, options_.movingInitial);
   }

   bool isBySuperuser() const {
      return core_.isServer() || catalog::isSuperuser(core_.transaction.catalog(), core_.role());
   }

   /// INITCOND must be a text of the type.
   void requireText(const SqlType& type, const std::optional<std::string>& text) {
      if (text && !sql::isPseudoType(type.oid)) parseText(type, *text, core_.format());
   }

   bool isOrderedSet() const { return aggregate_.kind != AggregateKind::Normal; }
   const FunctionParameter* variadic() const {
      return !function_.parameters.empty() && function_.parameters.back().mode == 'v' ? &function_.parameters.back()
                                                                                      : nullptr;
   }
   bool takesAny() const { return variadic() && variadic()->type.oid == oid::any; }

   void checkArguments() {
      if (aggregate_.kind == AggregateKind::Hypothetical) {
         const size_t direct = static_cast<size_t>(aggregate_.directArgs), ordered = types_.size() - direct;
         const bool matches = direct <= types_.size() && direct >= ordered &&
                              std::equal(types_.begin() + static_cast<ptrdiff_t>(direct), types_.end(),
                                         types_.begin() + static_cast<ptrdiff_t>(direct - ordered));
         if (!matches && !(direct == types_.size() && variadic()))
            refuse("a hypothetical-set aggregate must have direct arguments matching its aggregated arguments");
      }
      if (isOrderedSet() && variadic() && !takesAny())
         throw SqlError(sqlstate::featureNotSupported, "a variadic ordered-set aggregate must use VARIADIC type ANY");
      requireDetermined(state_.oid, "cannot determine transition data type");
      if (options_.movingStateType) requireDetermined(movingState_.oid, "cannot determine transition data type");
   }

   /// A polymorphic type needs an argument that says what it is.
   void requireDetermined(Oid type, const std::string& message) const {
      if (sql::isDetermined(type, types_)) return;
      throw SqlError(sqlstate::invalidFunctionDefinition, message)
          .detail("A result of type " + sql::typeName(type) + " requires at least one input of type " +
                  std::string(sql::determiningTypes(type)) + ".");
   }

   /// Types for a transition function: the state, then what it gets of a row.
   std::vector<SqlType> transitionTypes(const SqlType& state) const {
      std::vector<SqlType> types{state};
      size_t from = 0;
      if (isOrderedSet()) {
         const auto direct = static_cast<size_t>(aggregate_.directArgs);
         from = direct < inputs_.size() ? direct : inputs_.size() - 1;
      }
      types.insert(types.end(), inputs_.begin() + static_cast<ptrdiff_t>(from), inputs_.end());
      return types;
   }

   Oid namedState() const { return state_.named(); }

   AggregateUse findNext(const Names& name, const SqlType& state, const char* what) {
      const AggregateUse use = requireAggregateUse(core_, name, transitionTypes(state), takesAny());
      if (resultOf(use) != state.named())
         throw SqlError(sqlstate::datatypeMismatch, std::string("return type of ") + what + " " + shown(name) +
                                                        " is not " + sql::typeName(state.oid));
      return use;
   }
   /// A result of a domain type is one of the domain.
   Oid resultOf(const AggregateUse& use) const {
      const auto own = core_.transaction.catalog().function(use.function->oid);
      return own && own->returnType.domain ? own->returnType.domain : use.result;
   }
   static std::string shown(const Names& name) {
      std::string text;
      for (const std::string& part : name)
         text += (text.empty() ? "" : ".") + part;
      return text;
   }

   /// A strict function takes the first row for the state, unless there is an initial one.
   void requireInitial(const AggregateUse& use, const std::optional<std::string>& initial, const SqlType& state) const {
      if (!use.function->isStrict || initial) return;
      const std::vector<SqlType> types = transitionTypes(state);
      if (types.size() < 2 || !isBinaryCoercible(types[1].oid, state.oid))
         refuse("must not omit initial value when transition function is strict and transition type is not compatible "
                "with input type");
   }

   void findTransition() {
      const AggregateUse use = findNext(options_.transition, state_, "transition function");
      aggregate_.transition = use.function->oid;
      requireInitial(use, options_.initial, state_);
   }

   void findMoving() {
      const AggregateUse forward = findNext(options_.movingTransition, movingState_, "transition function");
      requireInitial(forward, options_.movingInitial, movingState_);
      const AggregateUse inverse = findNext(options_.movingInverse, movingState_, "inverse transition function");
      if (forward.function->isStrict != inverse.function->isStrict)
         refuse("strictness of aggregate's forward and inverse transition functions must match");
      aggregate_.movingTransition = forward.function->oid;
      aggregate_.movingInverse = inverse.function->oid;
   }

   /// Types for a final function: the state, direct arguments, and with FINALFUNC_EXTRA all arguments.
   std::vector<SqlType> finalTypes(const SqlType& state, bool takesArgs) const {
      std::vector<SqlType> types{state};
      const size_t count = takesArgs ? inputs_.size() : isOrderedSet() ? static_cast<size_t>(aggregate_.directArgs) : 0;
      types.insert(types.end(), inputs_.begin(), inputs_.begin() + static_cast<ptrdiff_t>(count));
      return types;
   }

   AggregateUse findFinalOf(const Names& name, const SqlType& state, bool takesArgs) {
      const bool isAny = takesAny() && (takesArgs || static_cast<size_t>(aggregate_.directArgs) == types_.size());
      const AggregateUse use = requireAggregateUse(core_, name, finalTypes(state, takesArgs), isAny);
      if (takesArgs && use.function->isStrict)
         refuse("final function with extra arguments must not be declared STRICT");
      return use;
   }

   void findFinal() {
      aggregate_.finalTakesArgs = options_.finalTakesArgs;
      // The final functions of ordered-set aggregates change the state, unless they say otherwise.
      aggregate_.finalModify = options_.finalModify ? options_.finalModify : isOrderedSet() ? 'w' : 'r';
      aggregate_.movingFinalModify = options_.movingFinalModify ? options_.movingFinalModify
                                     : isOrderedSet()           ? 'w'
                                                                : 'r';
      function_.returnType = state_;
      if (!options_.final.empty()) {
         const AggregateUse use = findFinalOf(options_.final, state_, options_.finalTakesArgs);
         aggregate_.final = use.function->oid;
         const auto own = core_.transaction.catalog().function(use.function->oid);
         function_.returnType = own && own->returnType.domain ? own->returnType : sql::plainType(use.result);
      }
   }

   void checkResult() const {
      requireDetermined(function_.returnType.oid, "cannot determine result data type");
      if (function_.returnType.oid == oid::internal &&
          std::find(types_.begin(), types_.end(), Oid{oid::internal}) == types_.end())
         throw SqlError(sqlstate::invalidFunctionDefinition, "unsafe use of pseudo-type \"internal\"")
             .detail("A function returning \"internal\" must have at least one \"internal\" argument.");
   }

   void findParallel() {
      const SqlType bytea = sql::plainType(oid::bytea);
      const auto use = [&](const Names& name, std::vector<SqlType> types, Oid result, const char* what) {
         const AggregateUse found = requireAggregateUse(core_, name, types, false);
         if (resultOf(found) != result)
            throw SqlError(sqlstate::datatypeMismatch, std::string("return type of ") + what + " function " +
                                                           shown(name) + " is not " + sql::typeName(result));
         return found.function;
      };
      if (!options_.combine.empty()) {
         const auto* found = use(options_.combine, {state_, state_}, namedState(), "combine");
         if (state_.oid == oid::internal && found->isStrict)
            refuse("combine function with transition type internal must not be declared STRICT");
         aggregate_.combine = found->oid;
      }
      if (!options_.serialize.empty())
         aggregate_.serialize = use(options_.serialize, {state_}, oid::bytea, "serialization")->oid;
      if (!options_.deserialize.empty())
         aggregate_.deserialize = use(options_.deserialize, {bytea, state_}, namedState(), "deserialization")->oid;
   }

   void findMovingFinal() {
      aggregate_.movingFinalTakesArgs = options_.movingFinalTakesArgs;
      Oid result = movingState_.named();
      if (!options_.movingFinal.empty()) {
         const AggregateUse use = findFinalOf(options_.movingFinal, movingState_, options_.movingFinalTakesArgs);
         aggregate_.movingFinal = use.function->oid;
         result = resultOf(use);
      }
      if (result != function_.returnType.named())
         refuse("moving-aggregate implementation returns type " + sql::typeName(result) +
                ", but plain implementation returns type " + sql::typeName(function_.returnType.named()));
   }

   void findSortOperator() {
      if (options_.sortOperator.empty()) return;
      if (types_.size() != 1) refuse("sort operator can only be specified for single-argument aggregates");
      const Oid type = types_[0];
      const auto* found = catalog::builtins().findOperator(options_.sortOperator.back(), type, type);
      if (!found)
         throw SqlError(sqlstate::undefinedFunction, "operator does not exist: " + sql::typeName(type) + " " +
                                                         shown(options_.sortOperator) + " " + sql::typeName(type));
      aggregate_.sortOperator = found->oid;
   }

   CommandContext& context_;
   SessionCore& core_;
   const ::DefineStmt& statement_;
   const AggregateOptions options_;
   FunctionDefinition function_;
   AggregateDefinition aggregate_;
   SqlType state_{invalidOid, -1, invalidOid}, movingState_ = state_;
   std::vector<Oid> types_;      ///< of the arguments, domains as themselves
   std::vector<SqlType> inputs_; ///< the same
};

std::string describedKind(const catalog::Function& function) {
   switch (function.functionKind) {
   case FunctionKind::Aggregate:
      return function.aggregate->kind == AggregateKind::Normal       ? "an ordinary aggregate function"
             : function.aggregate->kind == AggregateKind::OrderedSet ? "an ordered-set aggregate"
                                                                     : "a hypothetical-set aggregate";
   case FunctionKind::Procedure: return "a procedure";
   case FunctionKind::Window: return "a window function";
   default: return "a function";
   }
}

/// OR REPLACE leaves what callers rely on.
void requireReplaceable(SessionCore& core, const catalog::Function& old, const FunctionDefinition& changed) {
   if (!actsFor(core, old.owner))
      throw SqlError(sqlstate::insufficientPrivilege,
                     "must be owner of " + std::string(catalog::routineNoun(old.functionKind)) + " " + old.name);
   if (old.functionKind != changed.functionKind || old.aggregate->kind != changed.aggregate->kind)
      throw SqlError(sqlstate::wrongObjectType, "cannot change routine kind")
          .detail("\"" + old.name + "\" is " + describedKind(old) + ".");
   if (old.aggregate->directArgs != changed.aggregate->directArgs)
      refuse("cannot change number of direct arguments of an aggregate function");
   if (old.returnType.named() != changed.returnType.named())
      throw SqlError(sqlstate::invalidFunctionDefinition, "cannot change return type of existing function")
          .hint("Use DROP AGGREGATE " + catalog::signatureOf(core.transaction.catalog(), core.searchPath(), old) +
                " first.");
}

} // namespace

std::string createAggregate(CommandContext& context, const ::DefineStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE AGGREGATE");
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(statement.defnames))
      parts.emplace_back(sql::stringOf(part));
   const catalog::QualifiedName name = catalog::toQualifiedName(std::move(parts));
   if (name.schema == "pg_temp") makeTemporarySchema(core);
   const catalog::SearchPath path = core.searchPath();
   const Oid schema = catalog::creationSchema(core.transaction.catalog(), path, name);
   if (const auto found = core.transaction.catalog().schema(schema))
      requirePrivilege(core, *found, catalog::privilege::create);
   FunctionDefinition draft = AggregateDraft(context, statement).read();
   draft.schema = schema;
   draft.name = name.name;
   draft.owner = core.role();
   const auto old = core.transaction.catalog().findFunction(schema, draft.name, draft.inputTypes());
   if (old && !statement.replace)
      throw SqlError(sqlstate::duplicateFunction,
                     "function \"" + draft.name + "\" already exists with same argument types");
   if (!old) {
      core.transaction.editor().createFunction(std::move(draft));
      return "CREATE AGGREGATE";
   }
   requireReplaceable(core, *old, draft);
   draft.database = old->database;
   draft.oid = old->oid;
   draft.owner = old->owner;
   draft.acl = old->acl;
   core.transaction.editor().replaceFunction(std::move(draft));
   return "CREATE AGGREGATE";
}

} // namespace ouzel::engine
