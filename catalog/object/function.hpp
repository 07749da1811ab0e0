#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/objects.hpp"
#include "catalog/object/search_path.hpp"

// The functions, procedures and aggregates of users.

namespace ouzel::catalog {

struct FunctionParameter {
   std::string name; ///< empty: none
   char mode = 'i';  ///< as pg_proc.proargmodes: i IN, o OUT, b INOUT, v VARIADIC, t a column of RETURNS TABLE
   SqlType type;     ///< without a length
   std::string defaultExpr = {}; ///< SQL; empty: none

   bool isInput() const { return mode == 'i' || mode == 'b' || mode == 'v'; }
   bool isOutput() const { return mode == 'o' || mode == 'b' || mode == 't'; }
};

/// What an aggregate is beside a function, as pg_aggregate has it. Its functions may be built-in ones; invalidOid:
/// none.
struct AggregateDefinition {
   AggregateKind kind = AggregateKind::Normal;
   int16_t directArgs = 0; ///< the first arguments of ordered-set aggregates
   Oid transition = invalidOid, final = invalidOid, combine = invalidOid;
   Oid serialize = invalidOid, deserialize = invalidOid;
   Oid movingTransition = invalidOid, movingInverse = invalidOid, movingFinal = invalidOid;
   bool finalTakesArgs = false, movingFinalTakesArgs = false;
   char finalModify = 'r', movingFinalModify = 'r'; ///< r read only, s shareable, w read and write
   Oid sortOperator = invalidOid;
   SqlType stateType{invalidOid, -1, invalidOid}, movingStateType = stateType; ///< without a length; no OID: none
   int32_t stateSpace = 0, movingStateSpace = 0;
   std::optional<std::string> initial, movingInitial; ///< texts of the types

   bool isMoving() const { return movingTransition != invalidOid; }
   /// The functions that it calls.
   std::vector<Oid> functions() const;
};

/// What a Function is made of. ALTER changes a copy of it.
struct FunctionDefinition {
   Oid database = invalidOid, oid = invalidOid, schema = invalidOid;
   std::string name;
   Oid owner = bootstrapRole;
   FunctionKind functionKind = FunctionKind::Function; ///< or Procedure, or Aggregate
   Oid language = invalidOid;
   Oid declaredLanguage = invalidOid; ///< the Language that CREATE FUNCTION names; invalidOid: `language` itself
   std::vector<FunctionParameter> parameters; ///< in the order of the declaration
   SqlType returnType;                        ///< without a length
   bool returnsSet = false, isStrict = false, isSecurityDefiner = false, isLeakproof = false;
   Volatility volatility = Volatility::Volatile;
   char parallel = 'u';        ///< s safe, r restricted, u unsafe
   float cost = 100, rows = 0; ///< rows: of a set; 0: no set
   std::string source;         ///< the body as it was written
   /// How it was written: s a string, r RETURN, a BEGIN ATOMIC, b BEGIN ATOMIC with RETURN as its last statement. But
   /// in a string, names mean what they meant when the function was made: `bodyPath` is the search_path then, and the
   /// function falls with what `dependsOn`.
   char bodyForm = 's';
   std::string bodyPath;
   std::vector<Dependency> dependsOn;
   std::vector<Oid> calls; ///< what such a body calls: functions and operators of users
   std::vector<std::pair<std::string, std::string>> settings; ///< of SET
   Acl acl;
   std::optional<AggregateDefinition> aggregate;

   Oid shownLanguage() const { return declaredLanguage ? declaredLanguage : language; }
   std::vector<Oid> inputTypes() const; ///< domains as themselves
   size_t inputCount() const;
   bool hasOutputs() const;
};

/// CREATE FUNCTION, CREATE PROCEDURE or CREATE AGGREGATE. Copies of a database have the functions of the original under
/// the same OIDs.
struct Function : CatalogObject, FunctionDefinition {
   explicit Function(FunctionDefinition definition);
   Function(const Function&) = delete;

   /// The function as a row beside the built-in ones, with the base types of domains; valid while the object lives.
   const FunctionInfo& info() const { return info_; }

private:
   std::vector<Oid> argTypes_, allTypes_;
   std::string modes_;
   std::vector<std::string_view> names_, defaults_;
   FunctionInfo info_{};
};

namespace language_oid {
inline constexpr Oid internal = 12, c = 13, sql = 14, plpgsql = 13563;
}
/// pg_proc.procost of a function without COST.
inline float defaultCost(Oid language) {
   return language == language_oid::internal || language == language_oid::c ? 1 : 100;
}

/// By what functions of one name and schema differ: the name and the types of the input parameters.
std::string functionKey(std::string_view name, std::span<const Oid> inputTypes);

/// The functions, built-in ones too, that a name means, in the order of the path. An empty schema in `name`: along the
/// path. Empty if there is none, or no such schema. Throws 42501 for a named schema that the path's role may not use.
/// Valid while the snapshot lives.
std::vector<const FunctionInfo*> functionsNamed(const Snapshot& snapshot, const SearchPath& path,
                                                const QualifiedName& name);
/// What a function is, a built-in one or one of users; null: there is none. Valid while the snapshot lives.
const FunctionInfo* functionInfo(const Snapshot& snapshot, Oid oid);
/// What an aggregate of a user is; null: it is a built-in one, or another function. Valid while the snapshot lives.
const AggregateDefinition* userAggregate(const Snapshot& snapshot, Oid oid);
/// The kind of an aggregate and the number of its direct arguments; empty: it is none.
std::optional<std::pair<AggregateKind, int16_t>> aggregateKind(const Snapshot& snapshot, Oid oid);
/// What an extension's function in language c is, valid as long as the process lives: plans that call it may outlive
/// the extension. One row is kept for each such function that was ever called.
const FunctionInfo* lastingInfo(const FunctionPtr& function);
/// Whether the unqualified name and these types find this function.
bool isVisible(const Snapshot& snapshot, const SearchPath& path, const FunctionInfo& function);
/// The name as SQL needs it: schema-qualified unless visible, quoted if necessary.
std::string displayName(const Snapshot& snapshot, const SearchPath& path, const FunctionInfo& function);

} // namespace ouzel::catalog
