#include <algorithm>

#include "catalog/object/acl.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/function/function_use.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/operator/operator.hpp"
#include "engine/definition/type/user_type.hpp"
#include "sql/bind/type/type_rules.hpp"

// CREATE OPERATOR. A commutator or negator that does not exist yet becomes a shell, as in PostgreSQL.

namespace ouzel::engine {

using catalog::OperatorDefinition;
using catalog::OperatorPtr;
using sql::as;
using sql::isNode;
using sql::ListOf;

namespace {

using Names = std::vector<std::string>;

[[noreturn]] void refuse(const std::string& message) {
   throw SqlError(sqlstate::invalidFunctionDefinition, message);
}

/// What the statement says, before anything is looked up.
struct OperatorOptions {
   std::optional<SqlType> left, right;
   Names function, commutator, negator, restrictEstimator, joinEstimator;
   bool canMerge = false, canHash = false;

   OperatorOptions(CommandContext& context, const ::List* definition) {
      for (const ::DefElem* option : ListOf<::DefElem>(definition))
         read(context, *option);
   }

private:
   void read(CommandContext& context, const ::DefElem& option) {
      const std::string_view name = option.defname;
      if (name == "leftarg" || name == "rightarg") {
         if (isNode(option.arg, T_TypeName) && as<::TypeName>(option.arg)->setof)
            refuse("SETOF type not allowed for operator argument");
         (name == "leftarg" ? left : right) = typeOf(context, option);
         return;
      }
      const std::pair<std::string_view, Names*> places[] = {{"function", &function},          {"procedure", &function},
                                                            {"commutator", &commutator},      {"negator", &negator},
                                                            {"restrict", &restrictEstimator}, {"join", &joinEstimator}};
      for (const auto& [word, place] : places)
         if (word == name) {
            *place = namesOf(option);
            return;
         }
      if (name == "hashes")
         canHash = isTrue(option);
      else if (name == "merges")
         canMerge = isTrue(option);
      else if (name == "sort1" || name == "sort2" || name == "ltcmp" || name == "gtcmp")
         canMerge = true; // as old dumps say it
      else
         context.core.report({Notice::Severity::Warning, sqlstate::syntaxError,
                              "operator attribute \"" + std::string(name) + "\" not recognized", "", ""});
   }
};

/// Makes one operator and its links to others.
class OperatorDraft {
public:
   OperatorDraft(CommandContext& context, const ::DefineStmt& statement)
      : core_(context.core), options_(context, statement.definition) {
      Names parts;
      for (const ::Node* part : ListOf<>(statement.defnames))
         parts.emplace_back(sql::stringOf(part));
      name_ = catalog::toQualifiedName(std::move(parts));
   }

   void make() {
      draft_.schema = schemaOf(name_);
      draft_.name = name_.name;
      draft_.owner = core_.role();
      readTypes();
      findFunctions();
      requireConsistent();
      const OperatorPtr old = find(draft_.schema, name_.name, draft_.left, draft_.right);
      if (old && !old->isShell())
         throw SqlError(sqlstate::duplicateFunction, "operator " + name_.name + " already exists");
      if (old) {
         requireOwner(core_, *old);
         draft_.database = old->database;
         draft_.oid = old->oid;
         draft_.commutator = old->commutator;
         draft_.negator = old->negator;
      } else {
         OperatorDefinition shell = draft_;
         shell.function = invalidOid;
         draft_.oid = core_.transaction.editor().createOperator(std::move(shell));
         draft_.database = core_.transaction.catalog().database();
      }
      if (!options_.commutator.empty()) draft_.commutator = otherOperator(options_.commutator, true);
      if (!options_.negator.empty()) draft_.negator = otherOperator(options_.negator, false);
      const OperatorDefinition made = draft_;
      core_.transaction.editor().replaceOperator(std::move(draft_));
      link(made.commutator, made.oid, &OperatorDefinition::commutator);
      link(made.negator, made.oid, &OperatorDefinition::negator);
   }

private:
   Oid schemaOf(const catalog::QualifiedName& name) {
      if (name.schema == "pg_temp") makeTemporarySchema(core_);
      const Oid schema = catalog::creationSchema(core_.transaction.catalog(), core_.searchPath(), name);
      if (const auto found = core_.transaction.catalog().schema(schema))
         requirePrivilege(core_, *found, catalog::privilege::create);
      return schema;
   }

   OperatorPtr find(Oid schema, const std::string& name, const SqlType& left, const SqlType& right) const {
      return core_.transaction.editor().snapshot().findOperator(schema, name, left.named(), right.named());
   }

   void readTypes() {
      if (options_.function.empty()) refuse("operator function must be specified");
      if (options_.left) draft_.left = *options_.left;
      if (options_.right) draft_.right = *options_.right;
      if (!options_.left && !options_.right) refuse("operator argument types must be specified");
      if (!options_.right)
         throw SqlError(sqlstate::invalidFunctionDefinition, "operator right argument type must be specified")
             .detail("Postfix operators are not supported.");
      for (const SqlType& type : {draft_.left, draft_.right})
         requireTypeUsage(core_, type);
   }

   void findFunctions() {
      std::vector<Oid> types;
      for (const SqlType& type : {draft_.left, draft_.right})
         if (type.oid != invalidOid) types.push_back(type.named());
      const catalog::FunctionInfo& function = requireFunction(core_, options_.function, types);
      requireExecute(core_, function);
      draft_.function = function.oid;
      const auto own = core_.transaction.catalog().function(function.oid);
      draft_.result = own ? own->returnType : sql::plainType(function.returnType);
      requireTypeUsage(core_, draft_.result);
      if (!options_.restrictEstimator.empty())
         draft_.restrictEstimator = requireEstimator(core_, options_.restrictEstimator, false);
      if (!options_.joinEstimator.empty()) draft_.joinEstimator = requireEstimator(core_, options_.joinEstimator, true);
      draft_.canMerge = options_.canMerge;
      draft_.canHash = options_.canHash;
   }

   void requireConsistent() const {
      const auto require = [&](bool holds, const char* kind, const char* restrictWord) {
         if (holds) return;
         const std::string only = std::string("only ") + kind + " operators can ";
         if (restrictWord && *restrictWord == 'b' && !options_.commutator.empty()) refuse(only + "have commutators");
         if (restrictWord && *restrictWord == 'r' && !options_.negator.empty()) refuse(only + "have negators");
         if (restrictWord && *restrictWord == 'r' && draft_.restrictEstimator)
            refuse(only + "have restriction selectivity");
         if (draft_.joinEstimator) refuse(only + "have join selectivity");
         if (draft_.canMerge) refuse(only + "merge join");
         if (draft_.canHash) refuse(only + "hash");
      };
      require(draft_.left.oid != invalidOid, "binary", "b");
      require(draft_.result.oid == oid::boolean, "boolean", "r");
   }

   /// The operator that COMMUTATOR or NEGATOR names: one that there is, itself, or a new shell.
   Oid otherOperator(const Names& parts, bool isCommutator) {
      const catalog::QualifiedName name = catalog::toQualifiedName(parts);
      const SqlType& left = isCommutator ? draft_.right : draft_.left;
      const SqlType& right = isCommutator ? draft_.left : draft_.right;
      const catalog::Snapshot& snapshot = core_.transaction.editor().snapshot();
      for (const OperatorPtr& op : catalog::operatorsNamed(snapshot, core_.searchPath(), name.schema, name.name)) {
         if (op->left.named() != left.named() || op->right.named() != right.named()) continue;
         if (op->oid == draft_.oid && !isCommutator) refuse("operator cannot be its own negator");
         requireOwner(core_, *op);
         return op->oid;
      }
      if (name.schema.empty() || name.schema == "pg_catalog")
         if (const auto* builtin = catalog::builtins().findOperator(name.name, left.named(), right.named()))
            return builtin->oid;
      OperatorDefinition shell;
      shell.schema = schemaOf(name);
      shell.name = name.name;
      shell.owner = core_.role();
      shell.left = left;
      shell.right = right;
      return core_.transaction.editor().createOperator(std::move(shell));
   }

   /// The other operator names this one, too.
   void link(Oid other, Oid self, Oid OperatorDefinition::*place) {
      const OperatorPtr op = other == self ? nullptr : core_.transaction.editor().snapshot().op(other);
      if (!op || (*op).*place == self) return;
      OperatorDefinition changed = *op;
      changed.*place = self;
      core_.transaction.editor().replaceOperator(std::move(changed));
   }

   SessionCore& core_;
   const OperatorOptions options_;
   catalog::QualifiedName name_;
   OperatorDefinition draft_;
};

} // namespace

Oid requireEstimator(SessionCore& core, const std::vector<std::string>& name, bool isJoin) {
   const std::vector<Oid> restrict {oid::internal, oid::oid, oid::internal, oid::int4};
   const std::vector<Oid> join{oid::internal, oid::oid, oid::internal, oid::int2, oid::internal};
   const catalog::FunctionInfo& function = requireFunction(core, name, isJoin ? join : restrict);
   if (function.returnType != oid::float8)
      refuse(std::string(isJoin ? "join" : "restriction") + " estimator function " + std::string(function.name) +
             " must return type double precision");
   requireExecute(core, function);
   return function.oid;
}

std::string createOperator(CommandContext& context, const ::DefineStmt& statement) {
   requireWritable(context.core, "CREATE OPERATOR");
   OperatorDraft(context, statement).make();
   return "CREATE OPERATOR";
}

} // namespace ouzel::engine
