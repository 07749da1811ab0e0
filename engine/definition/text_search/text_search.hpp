#pragma once
#include <optional>
#include <string>

#include "catalog/object/text_search/text_search.hpp"
#include "engine/query/command_context.hpp"
#include "sql/parse/node_access.hpp"

// CREATE, ALTER and DROP TEXT SEARCH CONFIGURATION, DICTIONARY, PARSER and TEMPLATE.

namespace ouzel::engine {

/// The kind that the parser's type says; nothing: it is none of full text search.
std::optional<catalog::ObjectKind> textSearchKind(::ObjectType type);
/// The name that a list of strings is.
catalog::QualifiedName textSearchName(const ::List* list);

// create_text_search.cpp
std::string createTextSearch(CommandContext& context, const ::DefineStmt& statement);
/// What an option of a definition says, as text. Throws 42601 for one without a value.
std::string textOfOption(const ::DefElem& option);
/// Throws what the dictionary's template says of its options.
void checkDictionary(SessionCore& core, const catalog::TextSearchObject& dictionary);

// change_text_search.cpp
std::string alterDictionary(CommandContext& context, const ::AlterTSDictionaryStmt& statement);
std::string alterConfiguration(CommandContext& context, const ::AlterTSConfigurationStmt& statement);
std::string dropTextSearch(CommandContext& context, const ::DropStmt& statement);
// Each throws 42501 unless who acts owns the object, 42704 if there is none, 0A000 for a built-in one.
void renameTextSearch(SessionCore& core, ::ObjectType type, const ::List* name, const char* newName);
void moveTextSearch(SessionCore& core, ::ObjectType type, const ::List* name, const char* schema);
void changeTextSearchOwner(SessionCore& core, ::ObjectType type, const ::List* name, Oid owner);
void commentOnTextSearch(SessionCore& core, ::ObjectType type, const ::List* name, const std::string& text);
/// REASSIGN OWNED.
void reassignTextSearch(SessionCore& core, Oid from, Oid to);
/// Throws 23505 for a name that another object of the kind has in the schema, as PostgreSQL's index does.
void requireFreeTextSearchName(SessionCore& core, catalog::ObjectKind kind, Oid schema, const std::string& name);

} // namespace ouzel::engine
