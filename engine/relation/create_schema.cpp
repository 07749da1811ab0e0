#include <algorithm>

#include "catalog/object/membership.hpp"
#include "common/thread/interruption.hpp"
#include "engine/core/local_setting.hpp"
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

/// Where an element can begin: each begins with CREATE or GRANT, reserved words that elements have inside as well.
std::vector<size_t> possibleBeginnings(std::string_view text, size_t from) {
   std::vector<size_t> result;
   int depth = 0;
   for (Token token = nextToken(text, nextToken(text, from).end); token.end > token.begin;
        token = nextToken(text, token.end)) {
      const std::string_view word = text.substr(token.begin, token.end - token.begin);
      if (word == "(") ++depth;
      if (word == ")") --depth;
      const auto is = [&](std::string_view keyword) { return afterKeyword(word, 0, keyword) == word.size(); };
      if (token.kind == 'w' && depth == 0 && !word.empty() && (is("create") || is("grant")))
         result.push_back(token.begin);
   }
   return result;
}

bool isStatement(std::string_view text, ::NodeTag kind) {
   checkInterrupted();
   try {
      const auto script = sql::ParsedScript::parse(std::string(text));
      return script.statements().size() == 1 && nodeTag(script.statements()[0].node) == kind;
   } catch (const SqlError&) {
      return false;
   }
}

/// The parser does not say where elements begin and end. Each has to be a statement by itself.
class Division {
public:
   Division(std::string_view text, size_t from, const ListOf<>& list)
      : text_(text), list_(list), begins_(possibleBeginnings(text, from)) {}

   /// Empty: there is none, which the parser has excluded.
   std::vector<Element> run() {
      if (begins_.empty() || !divide(0, 0)) elements_.clear();
      return std::move(elements_);
   }

private:
   bool divide(uint32_t number, size_t begin) {
      const auto end = [&](size_t next) { return next < begins_.size() ? begins_[next] : text_.size(); };
      const bool isLast = number + 1 == list_.size();
      for (size_t next = isLast ? begins_.size() : begin + 1; next <= begins_.size(); ++next) {
         if (!isLast && next == begins_.size()) return false;
         const std::string_view part = text_.substr(begins_[begin], end(next) - begins_[begin]);
         if (!isStatement(part, nodeTag(list_[number]))) continue;
         elements_.push_back({list_[number], begins_[begin], end(next)});
         if (isLast || divide(number + 1, next)) return true;
         elements_.pop_back();
      }
      return false;
   }

   const std::string_view text_;
   const ListOf<>& list_;
   const std::vector<size_t> begins_;
   std::vector<Element> elements_;
};

std::vector<Element> elementsOf(const CommandContext& context, const ::CreateSchemaStmt& statement) {
   const size_t end = context.statement.offset + context.statement.text.size();
   const ListOf<> list(statement.schemaElts);
   std::vector<Element> elements =
       Division(std::string_view(context.source().text()).substr(0, end), context.statement.offset, list).run();
   if (elements.empty()) throwNotSupported("CREATE SCHEMA with elements that cannot be told apart");
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
