#include <algorithm>

#include "catalog/builtin/extensions.hpp"
#include "catalog/builtin/internal_functions.hpp"
#include "catalog/object/function_text.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/privilege/default_acl.hpp"
#include "catalog/object/privilege/system_acl.hpp"
#include "catalog/object/range_constructors.hpp"
#include "common/text/ascii.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/function/function.hpp"
#include "engine/definition/function/standard_body.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/program/run_program.hpp"
#include "engine/query/source_range.hpp"
#include "engine/role/default_privileges.hpp"
#include "sql/bind/stored_expression.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/program/parse_program.hpp"

// CREATE FUNCTION and CREATE PROCEDURE.

namespace ouzel::engine {

using catalog::FunctionDefinition;
using catalog::FunctionKind;
using catalog::FunctionParameter;
using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

[[noreturn]] void refuse(const std::string& message) {
   throw SqlError(sqlstate::invalidFunctionDefinition, message);
}

/// The texts of the declarations between the first parentheses of the statement.
std::vector<std::string_view> declarationsOf(std::string_view text) {
   std::vector<std::string_view> declarations;
   size_t depth = 0, begin = 0;
   for (Token token = nextToken(text, 0); token.begin != token.end; token = nextToken(text, token.end)) {
      if (token.kind != 'o') continue;
      const char c = text[token.begin];
      if (c == '(' || c == '[') {
         if (++depth == 1) begin = token.end;
      } else if (c == ')' || c == ']') {
         if (--depth == 0) {
            declarations.push_back(text.substr(begin, token.begin - begin));
            return declarations;
         }
      } else if (c == ',' && depth == 1) {
         declarations.push_back(text.substr(begin, token.begin - begin));
         begin = token.end;
      }
   }
   return declarations;
}

/// The default in a parameter's declaration: what follows DEFAULT or =.
std::string_view defaultIn(std::string_view declaration) {
   size_t depth = 0;
   for (Token token = nextToken(declaration, 0); token.begin != token.end; token = nextToken(declaration, token.end)) {
      const std::string_view word = declaration.substr(token.begin, token.end - token.begin);
      if (word == "(" || word == "[") ++depth;
      if (word == ")" || word == "]") --depth;
      if (depth > 0 || !(word == "=" || (token.kind == 'w' && lowerCase(word) == "default"))) continue;
      const Token first = nextToken(declaration, token.end);
      std::string_view rest = declaration.substr(first.begin);
      while (!rest.empty() && std::string_view(" \t\r\n").find(rest.back()) != std::string_view::npos)
         rest.remove_suffix(1);
      return rest;
   }
   return {};
}

char modeOf(::FunctionParameterMode mode) {
   return mode == FUNC_PARAM_DEFAULT ? 'i' : static_cast<char>(mode);
}

/// Reads one CREATE FUNCTION or CREATE PROCEDURE.
class FunctionDraft {
public:
   FunctionDraft(CommandContext& context, const ::CreateFunctionStmt& statement)
      : context_(context), core_(context.core), statement_(statement), path_(core_.searchPath()) {}

   FunctionDefinition read() {
      function_.functionKind = statement_.is_procedure ? FunctionKind::Procedure : FunctionKind::Function;
      readOptions();
      readParameters();
      readResult();
      function_.cost = catalog::defaultCost(function_.language);
      attributes_.apply(context_, function_);
      if (function_.returnsSet && function_.rows == 0) function_.rows = 1000;
      requirePolymorphicInput();
      requireSqlTypes();
      for (const FunctionParameter& parameter : function_.parameters)
         requireTypeUsage(core_, parameter.type);
      requireTypeUsage(core_, function_.returnType);
      return std::move(function_);
   }

private:
   sql::BindContext binding(bool withSource = true) {
      return core_.bindContext(path_, withSource ? &context_.source() : nullptr);
   }

   void readOptions() {
      const ::DefElem *language = nullptr, *body = nullptr;
      bool isWindow = false;
      for (const ::DefElem* option : ListOf<::DefElem>(statement_.options)) {
         const std::string_view name = option->defname;
         if (name == "language" || name == "as") {
            const ::DefElem*& place = name == "as" ? body : language;
            if (place)
               throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
                   .at(context_.position(option->location));
            place = option;
         } else if (name == "window") {
            if (statement_.is_procedure)
               throw SqlError(sqlstate::invalidFunctionDefinition, "invalid attribute in procedure definition")
                   .at(context_.position(option->location));
            if (isWindow)
               throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
                   .at(context_.position(option->location));
            isWindow = true;
            function_.functionKind = FunctionKind::Window;
         } else if (name == "transform") {
            throwNotSupported("TRANSFORM of a function");
         } else {
            attributes_.read(context_, *option, statement_.is_procedure);
         }
      }
      if (!body && !statement_.sql_body) refuse("no function body specified");
      if (body && statement_.sql_body) refuse("duplicate function body specified");
      if (!language && !statement_.sql_body) refuse("no language specified");
      readLanguage(language ? std::string(stringOf(language->arg)) : "sql");
      if (statement_.sql_body) return readStandardBody();
      const ListOf<> parts(as<::List>(body->arg));
      if (parts.size() != 1)
         refuse("only one AS item needed for language \"" + std::string(stringOf(language->arg)) + "\"");
      function_.source = stringOf(parts[0]);
      if (function_.language == catalog::language_oid::c) // the kernel's name
         function_.source = std::string(core_.madeExtension->library) + "/" + function_.source;
   }

   /// RETURN or BEGIN ATOMIC: the names in it mean what they mean now.
   void readStandardBody() {
      if (function_.language != catalog::language_oid::sql)
         refuse("inline SQL function body only valid for language SQL");
      const bool isReturn = isNode(statement_.sql_body, T_ReturnStmt);
      AtomicBody body;
      if (!isReturn) body = atomicStatements(context_.statement.text);
      function_.bodyForm = isReturn ? 'r' : body.returns ? 'b' : 'a';
      function_.source = isReturn ? returnedQuery(context_.statement.text) : std::move(body.statements);
      for (const Oid oid : path_.schemas) {
         const auto schema = core_.transaction.catalog().schema(oid);
         if (!schema) continue;
         const bool isTemporary = schema->name.starts_with("pg_temp");
         function_.bodyPath += (function_.bodyPath.empty() ? "" : ", ") +
                               (isTemporary ? std::string("pg_temp") : catalog::quoteIdentifier(schema->name));
      }
   }

   void readLanguage(const std::string& name) {
      if (const catalog::Language* made = catalog::findUserLanguage(core_.transaction.catalog(), name)) {
         function_.language = catalog::language_oid::plpgsql; // which runs what is written in it
         function_.declaredLanguage = made->oid;
         return requireLanguage(core_, made->oid);
      }
      function_.language = catalog::findLanguage(name);
      if (function_.language == invalidOid)
         throw SqlError(sqlstate::undefinedObject, "language \"" + name + "\" does not exist");
      if (name == "c" && !core_.madeExtension) throwNotSupported("functions in language " + name);
      requireLanguage(core_, function_.language);
   }

   void readParameters() {
      const auto declarations = declarationsOf(context_.statement.text);
      bool hasVariadic = false, needsDefault = false;
      size_t index = 0;
      for (const ::FunctionParameter* node : ListOf<::FunctionParameter>(statement_.parameters)) {
         FunctionParameter parameter;
         parameter.mode = modeOf(node->mode);
         parameter.name = node->name ? node->name : "";
         if (node->argType->setof)
            refuse(statement_.is_procedure ? "procedures cannot accept set arguments"
                                           : "functions cannot accept set arguments");
         parameter.type = parameterType(*node->argType);
         if (parameter.isInput() && hasVariadic) refuse("VARIADIC parameter must be the last input parameter");
         if (parameter.mode == 'v') {
            hasVariadic = true;
            requireVariadicType(parameter.type.oid);
         }
         if (!parameter.name.empty()) requireNewName(parameter);
         if (node->defexpr) {
            if (!parameter.isInput()) refuse("only input parameters can have default values");
            needsDefault = true;
            parameter.defaultExpr = defaultOf(*node->defexpr, parameter.type,
                                              index < declarations.size() ? defaultIn(declarations[index]) : "");
         } else if (parameter.isInput() && needsDefault) {
            refuse("input parameters after one with a default value must also have defaults");
         }
         function_.parameters.push_back(std::move(parameter));
         ++index;
      }
      if (function_.inputCount() > 100) {
         const std::string noun = statement_.is_procedure ? "procedures" : "functions";
         throw SqlError(sqlstate::tooManyArguments, noun + " cannot have more than 100 arguments");
      }
   }

   /// A shell type has no values that a program could handle.
   void refuseShell(const ::TypeName& name, bool isArgument) {
      const auto found = findUserType(context_, reinterpret_cast<const ::Node*>(&name));
      if (!found || found->relationKind != catalog::RelationKind::Shell) return;
      const std::string shown = typeNameOf(reinterpret_cast<const ::Node*>(&name)).text();
      const std::string verb = isArgument ? "accept" : "return";
      if (function_.language == catalog::language_oid::sql)
         refuse("SQL function cannot " + verb + " shell type " + shown);
      core_.notice((isArgument ? "argument type " : "return type ") + shown + " is only a shell");
      throw SqlError(sqlstate::featureNotSupported, "PL/pgSQL functions cannot " + verb + " type " + shown);
   }

   SqlType parameterType(const ::TypeName& name) {
      refuseShell(name, true);
      try {
         return withoutLength(sql::resolveTypeName(name, binding(false)));
      } catch (const SqlError& error) {
         if (error.state() != sqlstate::undefinedObject) throw;
         std::string words;
         for (const ::Node* part : ListOf<>(name.names))
            words += (words.empty() ? "" : ".") + std::string(stringOf(part));
         if (name.arrayBounds) words += "[]";
         throw SqlError(sqlstate::undefinedObject, "type " + words + " does not exist");
      }
   }

   static SqlType withoutLength(SqlType type) {
      type.typmod = -1;
      if (!type.domain) type.collation = sql::plainType(type.oid).collation;
      return type;
   }

   static void requireVariadicType(Oid type) {
      const bool isArray = type == oid::any || type == oid::anyarray || type == oid::anycompatiblearray ||
                           sql::elementType(type) != invalidOid;
      if (!isArray) refuse("VARIADIC parameter must be an array");
   }

   /// Inputs and outputs may share a name, but no two of one kind.
   void requireNewName(const FunctionParameter& parameter) {
      const auto isOutOnly = [](char mode) { return mode == 'o' || mode == 't'; };
      for (const FunctionParameter& other : function_.parameters) {
         if (other.name != parameter.name) continue;
         const bool areApart = (isOutOnly(other.mode) && (parameter.mode == 'i' || parameter.mode == 'v')) ||
                               (isOutOnly(parameter.mode) && (other.mode == 'i' || other.mode == 'v'));
         if (!areApart) refuse("parameter name \"" + parameter.name + "\" used more than once");
      }
   }

   std::string defaultOf(const ::Node& node, const SqlType& type, std::string_view text) {
      std::optional<SqlType> target;
      if (!sql::isPolymorphic(type.oid)) target = type;
      sql::bindExpression(node, sql::ExpressionUse::ColumnDefault, nullptr, target, "parameter", binding(false));
      const std::string_view whole = context_.source().text();
      if (text.empty()) throwInternal("the text of a default was not found");
      std::string stored =
          sql::storedExpression(node, sql::ExpressionUse::ColumnDefault, nullptr, target, binding(),
                                static_cast<uint32_t>(text.data() - whole.data()), static_cast<uint32_t>(text.size()))
              .text;
      const auto* constant = isNode(&node, T_A_Const) ? as<::A_Const>(&node) : nullptr;
      const bool isUntyped = constant && (constant->isnull || constant->val.node.type == T_String);
      if (isUntyped && target) // as PostgreSQL shows it
         stored += "::" + catalog::typeText(core_.transaction.catalog(), {}, target->named());
      return stored;
   }

   void readResult() {
      std::vector<const FunctionParameter*> outputs;
      for (const FunctionParameter& parameter : function_.parameters)
         if (parameter.isOutput()) outputs.push_back(&parameter);
      const bool isTable =
          std::any_of(outputs.begin(), outputs.end(), [](const FunctionParameter* p) { return p->mode == 't'; });
      std::optional<SqlType> implied;
      if (outputs.size() == 1 && !statement_.is_procedure) implied = outputs[0]->type;
      if (outputs.size() > 1 || (statement_.is_procedure && !outputs.empty())) implied = sql::plainType(oid::record);
      if (statement_.is_procedure) {
         function_.returnType = implied.value_or(sql::plainType(oid::voidType));
         return;
      }
      if (!statement_.returnType) {
         if (!implied) refuse("function result type must be specified");
         function_.returnType = *implied;
         return;
      }
      function_.returnsSet = statement_.returnType->setof;
      if (isTable) { // the grammar has put the columns among the parameters
         function_.returnType = *implied;
         return;
      }
      refuseShell(*statement_.returnType, false);
      function_.returnType = withoutLength(sql::resolveTypeName(*statement_.returnType, binding(false)));
      if (implied && implied->named() != function_.returnType.named())
         refuse("function result type must be " + sql::typeName(implied->named()) + " because of OUT parameters");
   }

   /// A polymorphic result needs an argument that says what it is.
   void requirePolymorphicInput() {
      const std::vector<Oid> inputs = function_.inputTypes();
      const auto require = [&](const SqlType& type) {
         if (sql::isDetermined(type.oid, inputs)) return;
         throw SqlError(sqlstate::invalidFunctionDefinition, "cannot determine result data type")
             .detail("A result of type " + sql::typeName(type.oid) + " requires at least one input of type " +
                     std::string(sql::determiningTypes(type.oid)) + ".");
      };
      require(function_.returnType);
      for (const FunctionParameter& parameter : function_.parameters)
         if (parameter.isOutput()) require(parameter.type);
   }

   /// Of pseudo-types, functions in SQL have only those with values.
   void requireSqlTypes() const {
      if (function_.language != catalog::language_oid::sql) return;
      const Oid result = function_.returnType.oid;
      if (sql::isPseudoType(result) && !sql::isPolymorphic(result) && result != oid::record && result != oid::voidType)
         refuse("SQL functions cannot return type " + sql::typeName(result));
      for (const FunctionParameter& parameter : function_.parameters)
         if (parameter.isInput() && sql::isPseudoType(parameter.type.oid) && !sql::isPolymorphic(parameter.type.oid))
            refuse("SQL functions cannot have arguments of type " + sql::typeName(parameter.type.oid));
   }

   CommandContext& context_;
   SessionCore& core_;
   const ::CreateFunctionStmt& statement_;
   const catalog::SearchPath path_;
   FunctionDefinition function_;
   FunctionAttributes attributes_;
};

[[noreturn]] void refuseChange(SessionCore& core, const catalog::Function& old, const std::string& message,
                               const std::string& detail = {}) {
   const std::string signature = catalog::signatureOf(core.transaction.catalog(), core.searchPath(), old);
   throw SqlError(sqlstate::invalidFunctionDefinition, message)
       .detail(detail)
       .hint(std::string("Use DROP ") + (old.functionKind == FunctionKind::Procedure ? "PROCEDURE " : "FUNCTION ") +
             signature + " first.");
}

/// OR REPLACE leaves what callers rely on: kind, result, names of parameters, and that they have defaults.
void requireReplaceable(SessionCore& core, const catalog::Function& old, const FunctionDefinition& changed) {
   if (!actsFor(core, old.owner))
      throw SqlError(sqlstate::insufficientPrivilege,
                     "must be owner of " + std::string(catalog::routineNoun(old.functionKind)) + " " + old.name);
   if (old.functionKind != changed.functionKind)
      throw SqlError(sqlstate::wrongObjectType, "cannot change routine kind")
          .detail("\"" + old.name + "\" is " +
                  (old.functionKind == FunctionKind::Aggregate ? std::string("an aggregate function")
                   : old.functionKind == FunctionKind::Window
                       ? std::string("a window function")
                       : "a " + std::string(catalog::routineNoun(old.functionKind))) +
                  ".");
   if (old.returnType.named() != changed.returnType.named() || old.returnsSet != changed.returnsSet)
      refuseChange(core, old,
                   old.functionKind == FunctionKind::Procedure
                       ? "cannot change whether a procedure has output parameters"
                       : "cannot change return type of existing function");
   const auto outputs = [](const FunctionDefinition& function) {
      std::vector<std::pair<std::string, Oid>> all;
      for (const FunctionParameter& parameter : function.parameters)
         if (parameter.isOutput()) all.emplace_back(parameter.name, parameter.type.named());
      return all;
   };
   if (changed.returnType.oid == oid::record && outputs(old) != outputs(changed))
      refuseChange(core, old, "cannot change return type of existing function",
                   "Row type defined by OUT parameters is different.");
   std::vector<const FunctionParameter*> before, after;
   for (const FunctionParameter& parameter : old.parameters)
      if (parameter.isInput()) before.push_back(&parameter);
   for (const FunctionParameter& parameter : changed.parameters)
      if (parameter.isInput()) after.push_back(&parameter);
   for (size_t i = 0; i < before.size() && i < after.size(); ++i) {
      if (!before[i]->name.empty() && before[i]->name != after[i]->name)
         refuseChange(core, old, "cannot change name of input parameter \"" + before[i]->name + "\"");
      if (!before[i]->defaultExpr.empty() && after[i]->defaultExpr.empty())
         refuseChange(core, old, "cannot remove parameter defaults from existing function");
   }
}

void checkBody(CommandContext& context, FunctionDefinition& draft) {
   if (draft.language == catalog::language_oid::c) return;
   const catalog::Language* made = catalog::userLanguage(context.core.transaction.catalog(), draft.declaredLanguage);
   if (made && made->validator == invalidOid) return;
   if (draft.language == catalog::language_oid::internal) {
      if (!catalog::isInternalFunction(draft.source))
         throw SqlError(sqlstate::undefinedFunction, "there is no built-in function named \"" + draft.source + "\"");
      return;
   }
   const bool checksBodies = context.core.settings.boolean("check_function_bodies");
   if (draft.language == catalog::language_oid::plpgsql) return checkProgram(context, draft, checksBodies);
   const bool isStandard = draft.bodyForm != 's';
   if (!checksBodies && !isStandard) return;
   const catalog::SearchPath path = context.core.searchPath();
   try {
      if (isStandard && std::any_of(draft.parameters.begin(), draft.parameters.end(), [](const auto& parameter) {
             return parameter.isInput() && sql::isPolymorphic(parameter.type.oid);
          }))
         refuse("SQL function with unquoted function body cannot have polymorphic arguments");
      sql::RoutineUse use = sql::checkRoutine(catalog::Function(draft), context.core.bindContext(path, nullptr));
      if (!isStandard) return;
      draft.dependsOn = std::move(use.relations);
      draft.calls = std::move(use.calls);
   } catch (SqlError& error) {
      if (error.position() > 0 && isStandard)
         error.setPosition(positionInBody(context.source().text(), draft.source, error.position()));
      else if (error.position() > 0)
         error.setPosition(sql::program::positionInStatement(context.source().text(), draft.source, error.position()));
      throw;
   }
}

catalog::QualifiedName nameOf(const ::List* list) {
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(list))
      parts.emplace_back(stringOf(part));
   return catalog::toQualifiedName(std::move(parts));
}

/// The constructor of a range type that has this name and these arguments; null: there is none.
const catalog::FunctionInfo* constructorNamed(const catalog::Snapshot& snapshot, const FunctionDefinition& draft) {
   const auto type = snapshot.findRelation(draft.schema, draft.name);
   if (!type) return nullptr;
   const auto constructors = catalog::listedRangeConstructors(*type);
   const auto found = std::find_if(constructors.begin(), constructors.end(), [&](const catalog::FunctionInfo& one) {
      return std::ranges::equal(one.argTypes, draft.inputTypes());
   });
   return found == constructors.end() ? nullptr : &*found;
}

/// OR REPLACE may say what a constructor is, as pg_get_functiondef() does. Throws 0A000 for what would change it.
void requireSame(const catalog::FunctionInfo& constructor, const FunctionDefinition& draft) {
   const auto isDeclared = [](const FunctionParameter& one) {
      return !one.name.empty() || !one.defaultExpr.empty() || !one.isInput();
   };
   if (draft.functionKind != constructor.kind || draft.language != catalog::language_oid::internal ||
       draft.source != constructor.source || draft.returnType.named() != constructor.returnType ||
       draft.isStrict != constructor.isStrict || draft.volatility != constructor.volatility || draft.returnsSet ||
       draft.parallel != 's' || draft.isSecurityDefiner || draft.isLeakproof || draft.cost != constructor.cost ||
       !draft.settings.empty() || std::ranges::any_of(draft.parameters, isDeclared))
      throwNotSupported("replacing the constructor of a range type");
}

} // namespace

std::string createFunction(CommandContext& context, const ::CreateFunctionStmt& statement) {
   SessionCore& core = context.core;
   const std::string tag = statement.is_procedure ? "CREATE PROCEDURE" : "CREATE FUNCTION";
   requireWritable(core, tag);
   const catalog::QualifiedName name = nameOf(statement.funcname);
   if (name.schema == "pg_temp") makeTemporarySchema(core);
   const catalog::SearchPath path = core.searchPath();
   const Oid schema = catalog::creationSchema(core.transaction.catalog(), path, name);
   if (const auto found = core.transaction.catalog().schema(schema))
      requirePrivilege(core, *found, catalog::privilege::create);
   FunctionDefinition draft = FunctionDraft(context, statement).read();
   draft.schema = schema;
   draft.name = name.name;
   draft.owner = core.role();
   const auto old = core.transaction.catalog().findFunction(schema, draft.name, draft.inputTypes());
   const catalog::FunctionInfo* constructor = constructorNamed(core.transaction.catalog(), draft);
   if ((old || constructor) && !statement.replace)
      throw SqlError(sqlstate::duplicateFunction,
                     "function \"" + draft.name + "\" already exists with same argument types");
   if (constructor) {
      if (!actsFor(core, core.transaction.catalog().findRelation(schema, draft.name)->owner))
         throw SqlError(sqlstate::insufficientPrivilege, "must be owner of function " + draft.name);
      requireSame(*constructor, draft);
      return tag;
   }
   if (old) {
      requireReplaceable(core, *old, draft);
      draft.database = old->database;
      draft.oid = old->oid;
      draft.owner = old->owner;
      draft.acl = old->acl;
   }
   checkBody(context, draft);
   if (old)
      core.transaction.editor().replaceFunction(std::move(draft));
   else
      core.transaction.editor().createFunction(std::move(draft));
   return tag;
}

} // namespace ouzel::engine
