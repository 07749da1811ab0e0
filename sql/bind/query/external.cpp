#include "sql/bind/query/external.hpp"

#include <algorithm>

#include "io/format/external_table.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/type/type_rules.hpp"

// read_csv(...) and its kin in FROM: files as tables. The binder opens the files to learn their columns, so
// the arguments must be constants in the statement's text.

namespace ouzel::sql {

namespace {

/// The name of the function if the FROM item is one call with an unqualified name; else empty.
std::string_view functionName(const ::RangeFunction& node) {
   const ListOf<List> functions(node.functions);
   if (functions.size() != 1) return {};
   const ::Node* expression = ListOf<>(functions[0])[0];
   if (!isNode(expression, T_FuncCall)) return {};
   const ListOf<> names(as<FuncCall>(expression)->funcname);
   return names.size() == 1 ? stringOf(names[0]) : std::string_view();
}

/// Reads one argument as text: a literal, or an ARRAY of literals.
class ArgumentReader {
public:
   ArgumentReader(std::string_view function, uint32_t position) : function_(function), position_(position) {}

   std::vector<std::string> read(const ::Node* node) const {
      std::vector<std::string> values;
      if (isNode(node, T_A_ArrayExpr))
         for (const ::Node* element : ListOf<>(as<A_ArrayExpr>(node)->elements))
            values.push_back(readOne(element));
      else
         values.push_back(readOne(node));
      return values;
   }

private:
   std::string readOne(const ::Node* node) const {
      while (isNode(node, T_TypeCast)) // 'x'::text
         node = as<TypeCast>(node)->arg;
      if (isNode(node, T_A_Const) && !as<A_Const>(node)->isnull) {
         const auto* value = reinterpret_cast<const ::Node*>(&as<A_Const>(node)->val);
         if (isNode(value, T_String)) return as<::String>(value)->sval;
         if (isNode(value, T_Integer)) return std::to_string(as<::Integer>(value)->ival);
         if (isNode(value, T_Boolean)) return as<::Boolean>(value)->boolval ? "true" : "false";
         if (isNode(value, T_Float)) return as<::Float>(value)->fval;
      }
      throw SqlError(sqlstate::featureNotSupported,
                     "arguments of " + std::string(function_) + " must be literals or arrays of literals")
          .at(position_)
          .detail("The columns of the files have to be known before the statement runs.");
   }

   std::string_view function_;
   uint32_t position_;
};

} // namespace

std::optional<FromItem> bindExternal(BindState& state, Scope& scope, const ::RangeFunction& node) {
   const std::string function(functionName(node));
   if (function != "read_csv" && function != "read_json" && function != "read_parquet") return std::nullopt;
   const auto& call = *as<FuncCall>(ListOf<>(ListOf<List>(node.functions)[0])[0]);
   const uint32_t position = state.at(call.location);
   if (!state.context.openExternal) throwNotSupported("function " + function + " here", position);
   if (node.ordinality) throwNotSupported("WITH ORDINALITY for " + function, position);

   io::ExternalRequest request;
   for (const ::Node* arg : ListOf<>(call.args)) {
      const auto* named = isNode(arg, T_NamedArgExpr) ? as<NamedArgExpr>(arg) : nullptr;
      std::vector<std::string> values =
          ArgumentReader(function, position).read(named ? reinterpret_cast<const ::Node*>(named->arg) : arg);
      if (!named) {
         if (!request.patterns.empty())
            throw SqlError(sqlstate::undefinedFunction, function + " takes one list of files and named options")
                .at(position)
                .hint("Write several files as ARRAY['a', 'b'] and options as name => value.");
         request.patterns = std::move(values);
         continue;
      }
      const std::string_view name = named->name;
      if (name == "names") {
         request.names = std::move(values);
      } else if (name == "types" || name == "dtypes") {
         for (const std::string& type : values)
            request.types.push_back(resolveTypeText(type, state.context));
      } else {
         request.options.push_back({std::string(name), std::move(values)});
      }
   }
   if (request.patterns.empty())
      throw SqlError(sqlstate::undefinedFunction, function + " needs the name of a file").at(position);
   for (const ::ColumnDef* column : ListOf<ColumnDef>(node.coldeflist)) { // AS t(a integer, b text)
      request.names.emplace_back(column->colname);
      request.types.push_back(resolveValueType(*column->typeName, state.context));
   }
   io::ExternalTablePtr table;
   try {
      table = (*state.context.openExternal)(function, request);
   } catch (SqlError& error) {
      if (error.position() == 0) error.setPosition(position);
      throw;
   }

   op::Get get;
   get.table.external = table;
   std::string first = table->files().front();
   if (first.starts_with("s3://")) first.erase(std::min(first.find('?'), first.size()));
   get.table.name = table->files().size() == 1 ? first.substr(first.find_last_of('/') + 1)
                                               : std::to_string(table->files().size()) + " files";
   NamespaceItem item;
   item.alias = function;
   get.table.alias = node.alias ? node.alias->aliasname : function;
   int16_t attribute = 0;
   for (const io::ExternalColumn& column : table->columns()) {
      const ColumnId id = state.addColumn(scope, column.name, column.type);
      get.columns.push_back({id, ++attribute});
      item.columns.push_back({column.name, id, column.type});
   }
   applyAlias(item, node.alias);
   addEntry(scope, item);
   FromItem result;
   result.rel = makeRel(RelKind::VirtualGet, std::move(get));
   result.items.push_back(std::move(item));
   return result;
}

} // namespace ouzel::sql
