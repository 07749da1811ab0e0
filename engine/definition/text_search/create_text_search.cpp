#include <algorithm>

#include "catalog/object/function.hpp"
#include "catalog/object/text_search/dictionary_options.hpp"
#include "common/base_type/ts_vector.hpp"
#include "common/text/ascii.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/text_search/text_search.hpp"
#include "engine/definition/type/user_type.hpp"
#include "engine/query/object_kind.hpp"
#include "executor/function/text_search/ts_dictionary.hpp"

// CREATE TEXT SEARCH ...

namespace ouzel::engine {

using catalog::ObjectKind;
using catalog::TextSearchObject;
using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

Oid schemaFor(SessionCore& core, const catalog::QualifiedName& name) {
   const Oid schema = catalog::creationSchema(core.transaction.catalog(), core.searchPath(), name);
   if (name.schema == "pg_temp" || schema == core.searchPath().temporary)
      throwNotSupported("temporary objects of full text search");
   if (const auto found = core.transaction.catalog().schema(schema))
      requirePrivilege(core, *found, catalog::privilege::create);
   return schema;
}

/// A list of strings, or a type's name: how the grammar has names among options.
catalog::QualifiedName nameOfOption(const ::DefElem& option) {
   if (option.arg && isNode(option.arg, T_TypeName)) return textSearchName(as<::TypeName>(option.arg)->names);
   if (option.arg && isNode(option.arg, T_List)) return textSearchName(as<::List>(option.arg));
   return catalog::QualifiedName::of(textOfOption(option));
}

catalog::TextSearchPtr require(SessionCore& core, ObjectKind kind, const ::DefElem& option) {
   return catalog::requireTextSearch(core.transaction.catalog(), core.searchPath(), kind, nameOfOption(option));
}

[[noreturn]] void throwUnknown(ObjectKind kind, const ::DefElem& option) {
   throw SqlError(sqlstate::syntaxError, std::string(catalog::textSearchWord(kind)) + " parameter \"" +
                                             std::string(option.defname) + "\" not recognized");
}
[[noreturn]] void throwRequired(const std::string& what) {
   throw SqlError(sqlstate::invalidObjectDefinition, what + " is required");
}

void defineConfiguration(SessionCore& core, TextSearchObject& draft, const ListOf<::DefElem>& options) {
   catalog::TextSearchPtr parser, source;
   for (const ::DefElem* option : options) {
      const std::string name = lowerCase(option->defname);
      if (name == "parser")
         parser = require(core, ObjectKind::TextSearchParser, *option);
      else if (name == "copy")
         source = require(core, draft.kind, *option);
      else
         throwUnknown(draft.kind, *option);
   }
   if (parser && source) throw SqlError(sqlstate::syntaxError, "cannot specify both PARSER and COPY options");
   if (source) draft.mappings = source->mappings;
   if (!parser && !source) throwRequired("text search parser");
   draft.base = source ? source->base : parser->oid;
}

void defineDictionary(SessionCore& core, TextSearchObject& draft, const ListOf<::DefElem>& options) {
   std::vector<catalog::DictionaryOption> kept;
   for (const ::DefElem* option : options) {
      if (lowerCase(option->defname) == "template")
         draft.base = require(core, ObjectKind::TextSearchTemplate, *option)->oid;
      else
         kept.push_back({option->defname, textOfOption(*option)});
   }
   if (draft.base == invalidOid) throwRequired("text search template");
   if (!kept.empty()) draft.options = catalog::writeDictionaryOptions(kept);
   checkDictionary(core, draft);
}

/// A function of the object: one of PostgreSQL's own, which take and return what SQL has no values of.
struct Method {
   std::string_view option;
   size_t arguments;
   const char* missing; ///< null: it is optional
};
constexpr Method parserMethods[] = {{"start", 2, "text search parser start method"},
                                    {"gettoken", 3, "text search parser gettoken method"},
                                    {"end", 1, "text search parser end method"},
                                    {"headline", 3, nullptr},
                                    {"lextypes", 1, "text search parser lextypes method"}};
constexpr Method templateMethods[] = {{"init", 1, nullptr}, {"lexize", 4, "text search template lexize method"}};

bool fits(const catalog::FunctionInfo& function, const Method& method) {
   return function.argCount() == method.arguments &&
          std::all_of(function.argTypes.begin(), function.argTypes.end(),
                      [](Oid type) { return type == oid::internal || type == oid::int4 || type == oid::tsquery; });
}

/// A built-in function, or one that an extension has made.
Oid findMethod(SessionCore& core, const catalog::QualifiedName& name, const Method& method) {
   for (const catalog::FunctionInfo* function : catalog::builtins().functions(name.name))
      if (fits(*function, method)) return function->oid;
   for (const Oid schema : core.searchPath().schemas)
      for (const catalog::FunctionPtr& function : core.transaction.catalog().findFunctions(schema, name.name))
         if (fits(function->info(), method)) return function->oid;
   std::string types;
   for (size_t i = 0; i < method.arguments; ++i)
      types += i == 0                                  ? "internal"
               : method.option == "start"              ? ", integer"
               : i == 2 && method.option == "headline" ? ", tsquery"
                                                       : ", internal";
   throw SqlError(sqlstate::undefinedFunction, "function " + name.text() + "(" + types + ") does not exist");
}

void defineFunctions(SessionCore& core, TextSearchObject& draft, const ListOf<::DefElem>& options,
                     std::span<const Method> methods) {
   draft.functions.assign(methods.size(), invalidOid);
   for (const ::DefElem* option : options) {
      const auto found = std::find_if(methods.begin(), methods.end(), [&](const Method& method) {
         return method.option == lowerCase(option->defname);
      });
      if (found == methods.end()) throwUnknown(draft.kind, *option);
      draft.functions[static_cast<size_t>(found - methods.begin())] = findMethod(core, nameOfOption(*option), *found);
   }
   for (size_t i = 0; i < methods.size(); ++i)
      if (methods[i].missing && draft.functions[i] == invalidOid) throwRequired(methods[i].missing);
}

} // namespace

std::string textOfOption(const ::DefElem& option) {
   if (!option.arg) throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a parameter");
   if (isNode(option.arg, T_TypeName)) return textSearchName(as<::TypeName>(option.arg)->names).text();
   if (isNode(option.arg, T_List)) return textSearchName(as<::List>(option.arg)).text();
   if (isNode(option.arg, T_Integer)) return std::to_string(as<::Integer>(option.arg)->ival);
   if (isNode(option.arg, T_Float)) return as<::Float>(option.arg)->fval;
   if (isNode(option.arg, T_Boolean)) return as<::Boolean>(option.arg)->boolval ? "true" : "false";
   return std::string(stringOf(option.arg));
}

void checkDictionary(SessionCore& core, const TextSearchObject& dictionary) {
   const std::string_view lexize = executor::lexizeOf(core.transaction.catalog(), dictionary.base);
   executor::makeDictionary(lexize, catalog::readDictionaryOptions(dictionary.options.value_or("")));
}

std::string createTextSearch(CommandContext& context, const ::DefineStmt& statement) {
   SessionCore& core = context.core;
   std::string tag(tagOf(Verb::Create, statement.kind));
   requireWritable(core, tag);
   const catalog::QualifiedName name = textSearchName(statement.defnames);
   const ListOf<::DefElem> options(statement.definition);
   TextSearchObject draft(*textSearchKind(statement.kind));
   const bool isCode = draft.kind == ObjectKind::TextSearchParser || draft.kind == ObjectKind::TextSearchTemplate;
   if (isCode)
      requireSuperuser(core, "must be superuser to create " + std::string(catalog::textSearchWord(draft.kind)) + "s");
   draft.schema = schemaFor(core, name);
   draft.name = name.name;
   if (draft.kind == ObjectKind::TextSearchConfiguration)
      defineConfiguration(core, draft, options);
   else if (draft.kind == ObjectKind::TextSearchDictionary)
      defineDictionary(core, draft, options);
   else if (draft.kind == ObjectKind::TextSearchParser)
      defineFunctions(core, draft, options, parserMethods);
   else
      defineFunctions(core, draft, options, templateMethods);
   requireFreeTextSearchName(core, draft.kind, draft.schema, draft.name);
   core.transaction.editor().createTextSearch(std::move(draft));
   return tag;
}

} // namespace ouzel::engine
