#include "tests/unit/sql/bind/test_catalog.hpp"

#include <array>

#include "common/error/sql_error.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::sql {

namespace {

/// Text of the parenthesis that opens at or after `location`.
std::string parenthesised(const std::string& text, size_t location) {
   const size_t open = text.find('(', location);
   int depth = 0;
   for (size_t i = open; i < text.size(); ++i) {
      depth += text[i] == '(';
      depth -= text[i] == ')';
      if (depth == 0) return text.substr(open, i - open + 1);
   }
   return {};
}

/// Text from `location` to the comma or parenthesis that ends a column definition's part.
std::string untilEnd(const std::string& text, size_t location) {
   int depth = 0;
   size_t i = location;
   for (; i < text.size(); ++i) {
      if (text[i] == '(') ++depth;
      if (depth == 0 && (text[i] == ',' || text[i] == ')')) break;
      if (text[i] == ')') --depth;
   }
   return text.substr(location, i - location);
}

} // namespace

std::string errorText(const SqlError& error) {
   std::string text = "ERROR " + std::string(error.state().text());
   if (error.position()) text += " @" + std::to_string(error.position());
   text += ": " + std::string(error.what());
   if (!error.detailText().empty()) text += " {" + error.detailText() + "}";
   if (!error.hintText().empty()) text += " [" + error.hintText() + "]";
   return text;
}

TestCatalog::TestCatalog() : editor_(catalog::Snapshot::bootstrap(), [this] { return nextOid_++; }) {
   current_ = editor_.snapshot();
   const std::array<std::string, 2> setting{"$user", "public"};
   path_ = catalog::SearchPath::resolve(current_, setting, "postgres");
}

BindContext TestCatalog::context(const SourceText* source) const {
   return BindContext{current_, path_, format_, source};
}

void TestCatalog::run(std::string_view sql) {
   const auto script = ParsedScript::parse(sql);
   for (const auto& statement : script.statements()) {
      const auto bindContext = context(&script.source());
      switch (statement.node->type) {
      case T_CreateStmt: createTable(*statement.node, bindContext); break;
      case T_ViewStmt: createView(*statement.node, script, bindContext); break;
      case T_CreateSchemaStmt: editor_.createSchema(as<CreateSchemaStmt>(statement.node)->schemaname, 10); break;
      default: throwInternal("test catalog cannot run this");
      }
      current_ = editor_.snapshot();
   }
}

void TestCatalog::createTable(const ::Node& node, const BindContext& context) {
   const auto& statement = *as<CreateStmt>(&node);
   const std::string& text = context.source->text();
   catalog::Relation draft;
   const auto name = qualifiedName(*statement.relation, context);
   draft.schema = catalog::creationSchema(current_, path_, name);
   draft.name = name.name;
   draft.storage = static_cast<storage::StorageId>(nextOid_);
   const auto addCheck = [&](const ::Constraint* constraint) {
      catalog::Constraint check;
      check.kind = catalog::ConstraintKind::Check;
      if (constraint->conname) check.name = constraint->conname;
      check.expression = parenthesised(text, static_cast<size_t>(constraint->location));
      draft.constraints.push_back(std::move(check));
   };
   catalog::Constraint key;
   key.kind = catalog::ConstraintKind::PrimaryKey;
   for (const ::Node* element : ListOf<>(statement.tableElts)) {
      if (isNode(element, T_ColumnDef)) {
         const auto* definition = as<ColumnDef>(element);
         catalog::Column column;
         column.name = definition->colname;
         column.type = resolveTypeName(*definition->typeName, context);
         for (const auto* constraint : ListOf<::Constraint>(definition->constraints)) {
            const auto location = static_cast<size_t>(constraint->location);
            switch (constraint->contype) {
            case CONSTR_NOTNULL: column.notNull = true; break;
            case CONSTR_PRIMARY:
               column.notNull = true;
               key.columns.push_back(static_cast<int16_t>(draft.columns.size() + 1));
               break;
            case CONSTR_DEFAULT: column.defaultExpr = untilEnd(text, location + 7); break;
            case CONSTR_GENERATED:
               column.generated = 's';
               column.defaultExpr = parenthesised(text, location);
               break;
            case CONSTR_CHECK: addCheck(constraint); break;
            default: break;
            }
         }
         draft.columns.push_back(std::move(column));
         continue;
      }
      const auto* constraint = as<::Constraint>(element);
      if (constraint->contype == CONSTR_CHECK) addCheck(constraint);
      if (constraint->contype == CONSTR_PRIMARY)
         for (const ::Node* column : ListOf<>(constraint->keys))
            for (size_t i = 0; i < draft.columns.size(); ++i)
               if (draft.columns[i].name == stringOf(column)) {
                  draft.columns[i].notNull = true;
                  key.columns.push_back(static_cast<int16_t>(i + 1));
               }
   }
   if (!key.columns.empty()) draft.constraints.push_back(std::move(key));
   editor_.createRelation(std::move(draft));
}

void TestCatalog::createView(const ::Node& node, const ParsedScript& script, const BindContext& context) {
   const auto& statement = *as<ViewStmt>(&node);
   const auto& whole = script.statements()[0];
   const auto begin = static_cast<uint32_t>(whole.text.find(" as ") + 4) + whole.offset;
   const auto end = whole.offset + static_cast<uint32_t>(whole.text.size());
   auto view = bindView(*statement.query, context, begin, end - begin);
   catalog::Relation draft;
   draft.schema = catalog::publicSchema;
   draft.name = statement.view->relname;
   draft.relationKind = catalog::RelationKind::View;
   draft.definition = view.definition;
   draft.dependsOn = view.dependsOn;
   for (const OutputColumn& output : view.query.output) {
      catalog::Column column;
      column.name = output.name;
      column.type = output.type;
      draft.columns.push_back(std::move(column));
   }
   const ListOf<> names(statement.aliases);
   for (uint32_t i = 0; i < names.size(); ++i)
      draft.columns[i].name = stringOf(names[i]);
   editor_.createRelation(std::move(draft));
}

BoundQuery TestCatalog::bind(std::string_view sql) const {
   const auto script = ParsedScript::parse(sql);
   return bindQuery(*script.statements().at(0).node, context(&script.source()));
}

std::string TestCatalog::describe(std::string_view sql) const {
   try {
      const auto query = bind(sql);
      return toString(*query.root, query.columns);
   } catch (const SqlError& error) {
      return errorText(error);
   }
}

std::string TestCatalog::outputs(std::string_view sql) const {
   try {
      const auto query = bind(sql);
      std::string text;
      for (const OutputColumn& column : query.output) {
         if (!text.empty()) text += ", ";
         text += column.name + " " + typeName(column.type);
      }
      for (const SqlType& type : query.parameters)
         text += " $" + typeName(type);
      return text;
   } catch (const SqlError& error) {
      return errorText(error);
   }
}

} // namespace ouzel::sql
