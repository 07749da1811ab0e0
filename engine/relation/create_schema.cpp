#include <algorithm>

#include "catalog/object/membership.hpp"
#include "engine/core/privileges.hpp"
#include "engine/query/source_range.hpp"
#include "engine/relation/relation.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

// CREATE SCHEMA, with the statements that it may have for what is in the schema.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::textOf;

namespace {

/// While it lives, a setting has another value.
class LocalSetting {
public:
   LocalSetting(SessionCore& core, std::string name, const std::string& value)
      : core_(core), name_(std::move(name)), before_(core.settings.valueOf(name_)) {
      core.set(name_, value, true);
   }
   void restore() { core_.set(name_, before_, true); } // after an error the rollback does it

private:
   SessionCore& core_;
   const std::string name_, before_;
};

struct Element {
   const ::Node* node;
   size_t begin, end; ///< in the script
};

/// PostgreSQL makes sequences first, then tables, views, indexes; grants come last.
int orderOf(const ::Node* node) {
   switch (nodeTag(node)) {
   case T_CreateSeqStmt: return 0;
   case T_CreateStmt: return 1;
   case T_ViewStmt: return 2;
   case T_IndexStmt: return 3;
   case T_CreateTrigStmt: return 4;
   default: return 5;
   }
}

/// The name in the element that has to be one of the schema; null: none.
::RangeVar* targetOf(::Node* node) {
   switch (nodeTag(node)) {
   case T_CreateSeqStmt: return reinterpret_cast<::CreateSeqStmt*>(node)->sequence;
   case T_CreateStmt: return reinterpret_cast<::CreateStmt*>(node)->relation;
   case T_ViewStmt: return reinterpret_cast<::ViewStmt*>(node)->view;
   case T_IndexStmt: return reinterpret_cast<::IndexStmt*>(node)->relation;
   case T_CreateTrigStmt: return reinterpret_cast<::CreateTrigStmt*>(node)->relation;
   default: return nullptr;
   }
}

/// Where the elements begin: the parser does not say. Each begins with CREATE or GRANT, reserved words both.
std::vector<size_t> beginnings(std::string_view text, size_t from) {
   std::vector<size_t> result;
   std::string_view previous;
   int depth = 0;
   for (Token token = nextToken(text, nextToken(text, from).end); token.end > token.begin;
        token = nextToken(text, token.end)) {
      const std::string_view word = text.substr(token.begin, token.end - token.begin);
      if (word == "(") ++depth;
      if (word == ")") --depth;
      const auto is = [&](std::string_view part, std::string_view keyword) {
         return afterKeyword(part, 0, keyword) == part.size() && !part.empty();
      };
      const bool isKeyword = token.kind == 'w' && (is(word, "create") || is(word, "grant"));
      if (isKeyword && depth == 0 && !is(previous, "with") && !is(previous, "as")) result.push_back(token.begin);
      previous = token.kind == 'w' ? word : std::string_view();
   }
   return result;
}

std::vector<Element> elementsOf(const CommandContext& context, const ::CreateSchemaStmt& statement) {
   const size_t end = context.statement.offset + context.statement.text.size();
   const std::vector<size_t> begins =
       beginnings(std::string_view(context.source().text()).substr(0, end), context.statement.offset);
   const ListOf<> list(statement.schemaElts);
   CHECK(begins.size() == list.size());
   std::vector<Element> elements;
   for (uint32_t i = 0; i < list.size(); ++i)
      elements.push_back({list[i], begins[i], i + 1 < list.size() ? begins[i + 1] : end});
   std::stable_sort(elements.begin(), elements.end(),
                    [](const Element& a, const Element& b) { return orderOf(a.node) < orderOf(b.node); });
   return elements;
}

void requireInSchema(const Element& element, std::string& schema) {
   ::RangeVar* target = targetOf(const_cast<::Node*>(element.node));
   if (!target) return;
   if (target->schemaname && target->schemaname != schema)
      throw SqlError(sqlstate::invalidSchemaDefinition, "CREATE specifies a schema (" +
                                                            std::string(target->schemaname) +
                                                            ") different from the one being created (" + schema + ")");
   target->schemaname = schema.data();
}

void makeElements(CommandContext& context, const ::CreateSchemaStmt& statement, std::string schema, Oid owner,
                  const ElementRunner& run) {
   SessionCore& core = context.core;
   const std::vector<Element> elements = elementsOf(context, statement);
   for (const Element& element : elements)
      requireInSchema(element, schema);
   const std::string path = core.settings.value("search_path");
   LocalSetting searchPath(core, "search_path", catalog::quoteIdentifier(schema) + (path.empty() ? "" : ", " + path));
   std::optional<LocalSetting> role;
   if (owner != core.role()) role.emplace(core, "role", core.transaction.catalog().role(owner)->name);
   const std::string_view text = context.source().text();
   for (const Element& element : elements)
      run({element.node, text.substr(element.begin, element.end - element.begin),
           static_cast<uint32_t>(element.begin)});
   if (role) role->restore();
   searchPath.restore();
}

} // namespace

std::string createSchema(CommandContext& context, const ::CreateSchemaStmt& statement, const ElementRunner& run) {
   requireWritable(context.core, "CREATE SCHEMA");
   if (statement.if_not_exists && statement.schemaElts) throwInternal("the grammar refuses it");
   const std::string name = statement.schemaname                                 ? statement.schemaname
                            : statement.authrole && statement.authrole->rolename ? statement.authrole->rolename
                                                                                 : context.core.user();
   if (context.core.transaction.catalog().findSchema(name) && statement.if_not_exists) {
      context.core.notice("schema \"" + name + "\" already exists, skipping", {}, sqlstate::duplicateSchema);
      return "CREATE SCHEMA";
   }
   requireDatabasePrivilege(context.core, catalog::privilege::create);
   Oid owner = context.core.role();
   if (statement.authrole) owner = existingRole(context.core, *statement.authrole)->oid;
   if (!catalog::maySetRole(context.core.transaction.catalog(), context.core.role(), owner))
      throw SqlError(sqlstate::insufficientPrivilege,
                     "must be member of role \"" + context.core.transaction.catalog().role(owner)->name + "\"");
   context.core.transaction.editor().createSchema(name, owner);
   if (statement.schemaElts) makeElements(context, statement, name, owner, run);
   return "CREATE SCHEMA";
}

} // namespace ouzel::engine
