#include "sql/bind/type/overload_resolution.hpp"

#include <algorithm>
#include <array>

#include "catalog/builtin/extension_operators.hpp"
#include "catalog/builtin/extension_types.hpp"
#include "catalog/object/acl.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/operator.hpp"
#include "common/error/sql_error.hpp"
#include "sql/bind/state/type_naming.hpp"
#include "sql/bind/type/type_rules.hpp"

namespace ouzel::sql {

using catalog::builtins;
using catalog::FunctionInfo;
using catalog::OperatorInfo;

namespace {

/// Keeps the candidates with the highest `score`.
template <typename Candidate, typename Score>
void keepBest(std::vector<Candidate>& candidates, const Score& score) {
   std::vector<uint32_t> scores;
   for (const Candidate& candidate : candidates)
      scores.push_back(score(candidate));
   const uint32_t best = *std::max_element(scores.begin(), scores.end());
   size_t kept = 0;
   for (size_t i = 0; i < candidates.size(); ++i)
      if (scores[i] == best) candidates[kept++] = candidates[i];
   candidates.resize(kept);
}

/// The assumed type of an unknown argument: a category, and whether it must be the category's preferred type.
struct AssumedCategory {
   char category = '\0';
   bool wantsPreferred = false;
};

/// The assumption for the unknown argument at `arg`, from the candidates' types there; empty when the candidates
/// disagree.
std::optional<AssumedCategory> assumeCategory(const std::vector<std::span<const Oid>>& candidates, size_t arg) {
   AssumedCategory assumed;
   bool conflict = false;
   for (const auto& args : candidates) {
      const char category = typeCategory(args[arg]);
      const bool preferred = isPreferredType(args[arg]);
      if (assumed.category == '\0') {
         assumed = {category, preferred};
      } else if (category == assumed.category) {
         assumed.wantsPreferred |= preferred;
      } else if (category == 'S') { // an unknown literal looks like a string
         assumed = {category, preferred};
      } else {
         conflict = true;
      }
   }
   if (conflict && assumed.category != 'S') return {};
   return assumed;
}

/// PostgreSQL's func_select_candidate: index of the one best candidate. REQUIRES: the arguments can be coerced to the
/// types of each candidate.
std::optional<size_t> selectCandidate(std::span<const Oid> inputs, const std::vector<std::span<const Oid>>& all) {
   std::vector<size_t> candidates(all.size());
   for (size_t i = 0; i < all.size(); ++i)
      candidates[i] = i;
   const size_t argCount = inputs.size();
   const auto isKnown = [&](size_t arg) { return inputs[arg] != oid::unknown; };

   keepBest(candidates, [&](size_t c) {
      uint32_t exact = 0;
      for (size_t i = 0; i < argCount; ++i)
         exact += isKnown(i) && all[c][i] == inputs[i];
      return exact;
   });
   if (candidates.size() == 1) return candidates[0];

   keepBest(candidates, [&](size_t c) {
      uint32_t good = 0;
      for (size_t i = 0; i < argCount; ++i)
         good += isKnown(i) && (all[c][i] == inputs[i] ||
                                (typeCategory(all[c][i]) == typeCategory(inputs[i]) && isPreferredType(all[c][i])));
      return good;
   });
   if (candidates.size() == 1) return candidates[0];
   if (std::find(inputs.begin(), inputs.end(), oid::unknown) == inputs.end()) return {};

   // Assume a type for each unknown literal, then drop the candidates that take another type.
   std::vector<std::span<const Oid>> left;
   for (const size_t c : candidates)
      left.push_back(all[c]);
   std::vector<std::optional<AssumedCategory>> assumed(argCount);
   bool resolved = true;
   for (size_t i = 0; i < argCount && resolved; ++i) {
      if (isKnown(i)) continue;
      assumed[i] = assumeCategory(left, i);
      resolved = assumed[i].has_value();
   }
   if (resolved) {
      std::vector<size_t> fitting;
      for (const size_t c : candidates) {
         bool fits = true;
         for (size_t i = 0; i < argCount; ++i)
            if (assumed[i])
               fits &= typeCategory(all[c][i]) == assumed[i]->category &&
                       (!assumed[i]->wantsPreferred || isPreferredType(all[c][i]));
         if (fits) fitting.push_back(c);
      }
      if (!fitting.empty()) candidates = fitting;
      if (candidates.size() == 1) return candidates[0];
   }

   // Last step: if all known arguments have one type, assume that type for the unknown arguments.
   Oid known = oid::unknown;
   for (const Oid input : inputs) {
      if (input == oid::unknown) continue;
      if (known != oid::unknown && known != input) return {};
      known = input;
   }
   if (known == oid::unknown) return {};
   const std::vector<Oid> assumedInputs(argCount, known);
   std::optional<size_t> only;
   for (const size_t c : candidates) {
      if (!canCoerce(assumedInputs, all[c], CoercionContext::Implicit)) continue;
      if (only) return {};
      only = c;
   }
   return only;
}

/// Maps the arguments of a call in named notation to parameters; false if the names do not fit the function.
bool matchNamedArguments(const FunctionInfo& function, size_t argCount, std::span<const std::string> argNames,
                         FunctionCandidate& candidate) {
   if (function.argNames.empty() || function.isVariadic()) return false;
   const auto parameters = function.argCount();
   std::vector<bool> given(parameters);
   candidate.argOrder.clear();
   const size_t positional = argCount - argNames.size();
   for (uint32_t i = 0; i < positional; ++i) {
      candidate.argOrder.push_back(i);
      given[i] = true;
   }
   for (const std::string& name : argNames) {
      uint32_t input = 0;
      bool found = false;
      for (size_t i = 0; i < function.argNames.size() && !found; ++i) {
         const char mode = function.argModes.empty() ? 'i' : function.argModes[i];
         if (mode == 'o' || mode == 't') continue;
         if (function.argNames[i] == name) {
            if (given[input]) return false;
            found = given[input] = true;
            candidate.argOrder.push_back(input);
         }
         ++input;
      }
      if (!found) return false;
   }
   const auto defaultsFrom = parameters - static_cast<uint32_t>(function.defaults.size());
   for (uint32_t i = 0; i < parameters; ++i)
      if (!given[i] && i < defaultsFrom) return false;
   for (const uint32_t parameter : candidate.argOrder)
      candidate.args.push_back(function.argTypes[parameter]);
   candidate.defaultCount = parameters - static_cast<uint32_t>(argCount);
   return true;
}

/// The function as a candidate for a call of `argCount` arguments; false if the number does not fit.
bool makeCandidate(const FunctionInfo& function, size_t argCount, std::span<const std::string> argNames,
                   bool variadicCall, FunctionCandidate& candidate) {
   candidate.function = &function;
   const uint32_t parameters = function.argCount();
   if (!argNames.empty()) {
      if (argCount > parameters) return false;
      return matchNamedArguments(function, argCount, argNames, candidate);
   }
   const bool spread = function.isVariadic() && !variadicCall && argCount >= parameters;
   if (variadicCall && !function.isVariadic()) return false;
   if (spread) {
      candidate.args.assign(function.argTypes.begin(), function.argTypes.end() - 1);
      candidate.variadicCount = static_cast<uint32_t>(argCount) - parameters + 1;
      candidate.args.resize(argCount, function.variadicElement);
      return true;
   }
   if (argCount > parameters || argCount + function.defaults.size() < parameters) return false;
   candidate.args.assign(function.argTypes.begin(), function.argTypes.begin() + static_cast<ptrdiff_t>(argCount));
   candidate.defaultCount = parameters - static_cast<uint32_t>(argCount);
   return true;
}

std::vector<FunctionCandidate> collectCandidates(size_t argCount, std::span<const std::string> argNames,
                                                 bool variadicCall, std::span<const FunctionInfo* const> functions) {
   std::vector<FunctionCandidate> candidates;
   for (const FunctionInfo* function : functions) {
      FunctionCandidate candidate{};
      if (!makeCandidate(*function, argCount, argNames, variadicCall, candidate)) continue;
      const auto same = std::find_if(candidates.begin(), candidates.end(),
                                     [&](const auto& other) { return other.args == candidate.args; });
      if (same == candidates.end()) {
         candidates.push_back(std::move(candidate));
         continue;
      }
      // Of two that take the same arguments, that of the first schema is called, and in one schema that which is not
      // variadic; else it cannot be known.
      if (same->function->schema != candidate.function->schema) continue;
      const bool isSpread = candidate.variadicCount > 0, wasSpread = same->variadicCount > 0;
      if (!isSpread && wasSpread)
         *same = std::move(candidate);
      else if (isSpread == wasSpread)
         same->isAmbiguous = true;
   }
   return candidates;
}

/// The target type of a call f(x) that is a cast: f names a type, and the cast of x needs no function. Else invalidOid.
Oid castByFunctionName(const catalog::TypeInfo* type, Oid argType) {
   if (!type || type->isPseudo()) return invalidOid;
   if (argType == oid::unknown) return type->oid;
   switch (findCoercion(type->oid, argType, CoercionContext::Explicit).path) {
   case CoercionPath::Relabel: return type->oid;
   case CoercionPath::InOut: return isRowType(argType) && type->category == 'S' ? invalidOid : type->oid;
   default: return invalidOid;
   }
}

} // namespace

FunctionResolution resolveFunction(std::string_view name, std::span<const Oid> argTypes,
                                   std::span<const std::string> argNames, bool variadicCall,
                                   std::span<const FunctionInfo* const> functions,
                                   const catalog::TypeInfo* extensionType) {
   auto candidates = collectCandidates(argTypes.size(), argNames, variadicCall, functions);
   const auto found = [](FunctionCandidate& candidate) {
      if (candidate.isAmbiguous) return FunctionResolution{Resolution::Ambiguous, {}, invalidOid};
      return FunctionResolution{Resolution::Found, std::move(candidate), invalidOid};
   };
   for (auto& candidate : candidates)
      if (std::equal(argTypes.begin(), argTypes.end(), candidate.args.begin(), candidate.args.end()))
         return found(candidate);
   if (argTypes.size() == 1 && argNames.empty())
      for (const auto* type : {builtins().findType(name), extensionType})
         if (const Oid target = castByFunctionName(type, argTypes[0])) return {Resolution::Cast, {}, target};
   std::erase_if(candidates, [&](const FunctionCandidate& candidate) {
      return !canCoerce(argTypes, candidate.args, CoercionContext::Implicit);
   });
   if (candidates.empty()) return {};
   size_t chosen = 0;
   if (candidates.size() > 1) {
      std::vector<std::span<const Oid>> args;
      for (const auto& candidate : candidates)
         args.push_back(candidate.args);
      const auto best = selectCandidate(argTypes, args);
      if (!best) return {Resolution::Ambiguous, {}, invalidOid};
      chosen = *best;
   }
   return found(candidates[chosen]);
}

FunctionResolution resolveFunction(std::string_view name, std::span<const Oid> argTypes,
                                   std::span<const std::string> argNames, bool variadicCall) {
   return resolveFunction(name, argTypes, argNames, variadicCall, builtins().functions(name));
}

namespace {

/// The operators that a name means where users have made some, of which the exact one is called, if there is one.
struct OperatorChoice {
   const OperatorInfo* exact = nullptr;
   std::vector<const OperatorInfo*> all;
};

/// `name` may have a schema. Null results for other databases than those with operators of users.
OperatorChoice choiceAmongUsers(const TypeNaming& naming, std::string_view name, Oid left, Oid right) {
   OperatorChoice choice;
   const catalog::Snapshot& snapshot = naming.context().catalog;
   const catalog::SearchPath& path = naming.path();
   const size_t dot = name.rfind('.');
   const std::string schema(dot == std::string_view::npos ? std::string_view() : name.substr(0, dot));
   if (dot != std::string_view::npos) name = name.substr(dot + 1);
   if (const auto stored = catalog::functionOfStoredName(schema)) {
      choice.exact = catalog::operatorInfo(snapshot, *stored);
      return choice;
   }
   std::vector<Oid> schemas;
   if (schema.empty()) {
      for (const Oid one : path.schemas)
         if (one != path.temporary) schemas.push_back(one);
   } else if (schema == "pg_temp" && path.temporary != invalidOid) {
      schemas.push_back(path.temporary);
   } else if (const auto found = snapshot.findSchema(schema)) {
      catalog::requirePrivilege(snapshot, path, *found, catalog::privilege::usage);
      schemas.push_back(found->oid);
   }
   choice.exact = catalog::findExactOperator(snapshot, schemas, name, left, right);
   if (choice.exact) return choice;
   const auto isHidden = [&](const OperatorInfo& op) {
      return std::any_of(choice.all.begin(), choice.all.end(), [&](const OperatorInfo* before) {
         return before->left == op.left && before->right == op.right;
      });
   };
   for (const Oid one : schemas) {
      if (one == catalog::pgCatalogSchema)
         for (const OperatorInfo* op : builtins().operators(name))
            if (!isHidden(*op)) choice.all.push_back(op);
      for (const catalog::OperatorPtr& op : snapshot.findOperators(one, name))
         if (!isHidden(op->info())) choice.all.push_back(&op->info());
   }
   return choice;
}

} // namespace

OperatorResolution resolveOperator(std::string_view name, Oid left, Oid right) {
   // First try: an unknown operand has the type of the other operand.
   Oid exactLeft = left, exactRight = right;
   if (left) {
      if (left == oid::unknown && right != oid::unknown) exactLeft = right;
      if (right == oid::unknown && left != oid::unknown) exactRight = left;
   }
   OperatorChoice choice;
   const TypeNaming* users = withUserOperators();
   if (users)
      choice = choiceAmongUsers(*users, name, exactLeft, exactRight);
   else
      choice.exact = builtins().findOperator(name, exactLeft, exactRight);
   if (choice.exact) return {Resolution::Found, choice.exact};

   std::vector<const OperatorInfo*> candidates;
   std::vector<std::array<Oid, 2>> args;
   const std::array<Oid, 2> inputs = left ? std::array{left, right} : std::array{right, invalidOid};
   const size_t argCount = left ? 2 : 1;
   for (const OperatorInfo* op :
        users ? std::span<const OperatorInfo* const>(choice.all) : builtins().operators(name)) {
      if (op->isPrefix() != (left == invalidOid)) continue;
      const std::array<Oid, 2> declared = left ? std::array{op->left, op->right} : std::array{op->right, invalidOid};
      if (!canCoerce(std::span(inputs).first(argCount), std::span(declared).first(argCount), CoercionContext::Implicit))
         continue;
      candidates.push_back(op);
      args.push_back(declared);
   }
   if (candidates.empty()) return {};
   if (candidates.size() == 1) return {Resolution::Found, candidates[0]};
   std::vector<std::span<const Oid>> spans;
   for (const auto& declared : args)
      spans.push_back(std::span(declared).first(argCount));
   const auto best = selectCandidate(std::span(inputs).first(argCount), spans);
   if (!best) return {Resolution::Ambiguous, nullptr};
   return {Resolution::Found, candidates[*best]};
}

const OperatorInfo* requireOperator(std::string_view name, Oid left, Oid right, uint32_t position) {
   const auto found = resolveOperator(name, left, right);
   if (found.outcome == Resolution::Found) return found.op;
   const std::string signature = operatorSignature(name, left, right);
   if (found.outcome == Resolution::Ambiguous)
      throw SqlError(sqlstate::ambiguousFunction, "operator is not unique: " + signature)
          .at(position)
          .hint("Could not choose a best candidate operator. You might need to add explicit type casts.");
   throw SqlError(sqlstate::undefinedFunction, "operator does not exist: " + signature)
       .at(position)
       .hint(left ? "No operator matches the given name and argument types. You might need to add explicit type casts."
                  : "No operator matches the given name and argument type. You might need to add an explicit type "
                    "cast.");
}

const OperatorInfo& familyOperator(const OperatorInfo& op) {
   const TypeNaming* users = op.oid >= firstUserOid && op.left == op.right ? withUserOperators() : nullptr;
   if (!users || !catalog::extensionType(op.left)) return op;
   const auto* function = catalog::functionInfo(users->context().catalog, op.function);
   const OperatorInfo* known = function ? catalog::extensionComparison(function->source, op.left, op.right) : nullptr;
   return known ? *known : op;
}

std::string operatorSignature(std::string_view name, Oid left, Oid right) {
   std::string text;
   if (left) text = typeName(left) + " ";
   return text + std::string(name) + " " + typeName(right);
}

std::string callSignature(std::string_view name, std::span<const Oid> argTypes, std::span<const std::string> argNames) {
   std::string text(name);
   text += '(';
   const size_t positional = argTypes.size() - argNames.size();
   for (size_t i = 0; i < argTypes.size(); ++i) {
      if (i > 0) text += ", ";
      if (i >= positional) text += argNames[i - positional] + " => ";
      text += typeName(argTypes[i]);
   }
   return text + ')';
}

} // namespace ouzel::sql
