#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/text/number_text.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "optimizer/rewrite/rules.hpp"
#include "sql/algebra/build.hpp"

// Accesses to documents become columns. Durner ("Efficient Query Processing on Modern Hardware", JSON Tiles) pushes
// them into the scan when the plan is made; here they move before all other rewrites, so that what follows sees
// columns: doc -> 'by' ->> 'name' becomes a column of the Get that gives doc, wherever an operator between hands all
// columns on.
//
// A cast of a text to a number, boolean or date becomes COALESCE(value, cast(rest)): `value` has what the document
// stores as such, `rest` the texts of all other documents, mostly of none. So a text that the cast refuses raises its
// error where the statement has the cast, for the rows that ask for it. Where statistics say that no document has
// another text, `value` alone is left: it is compared, joined, and bounded as a stored column is.

namespace ouzel::optimizer {

using namespace sql;
using json::PathAccess;
using json::PathForm;
using json::PathTarget;

namespace {

constexpr uint8_t scaleMax = 18; ///< of numbers as 64-bit integers: so many digits fit

/// An access to a stored document.
struct Found {
   ColumnId document = noColumn;
   PathAccess access;
};

/// jsonb_extract_path takes a step like this for the position of an element, if it stands before an array.
bool maybeSubscript(std::string_view step) {
   while (!step.empty() && isBlank(step.front()))
      step.remove_prefix(1);
   return !step.empty() && (isDigit(step.front()) || step.front() == '+' || step.front() == '-');
}

/// Appends the keys of the steps; false if they are not all keys.
bool addKeys(const Value& steps, std::vector<std::string>& keys) {
   const ArrayView array(steps.bytes);
   if (array.dimensionCount() > 1 || array.hasNulls()) return false;
   for (ArrayView::Cursor step(array); step.next();) {
      const std::string_view key = step.as<StringView>().view();
      if (maybeSubscript(key)) return false;
      keys.emplace_back(key);
   }
   return true;
}

/// Matches a chain of steps from a column inwards, as far as they are keys of objects.
bool matchSteps(const Expr& expr, Found& found) {
   checkStack();
   if (expr.kind == ExprKind::Column) {
      found.document = columnOf(expr);
      return expr.type.oid == oid::jsonb;
   }
   const auto* function = functionOf(expr);
   if (!function || expr.kind != ExprKind::Call || expr.args.size() != 2) return false;
   const bool isField = function->source == "jsonb_object_field" || function->source == "jsonb_object_field_text";
   const bool isPath = function->source == "jsonb_extract_path" || function->source == "jsonb_extract_path_text";
   if (!isField && !isPath) return false;
   const Value* step = knownValue(*expr.args[1]);
   if (!step || !matchSteps(*expr.args[0], found)) return false;
   if (isPath) return addKeys(*step, found.access.keys);
   found.access.keys.push_back(step->bytes);
   return true;
}

std::optional<PathForm> formOf(const Expr& expr) {
   const auto* function = functionOf(expr);
   if (!function || expr.kind != ExprKind::Call) return std::nullopt;
   return function->source.ends_with("_text") ? PathForm::Text : PathForm::Json;
}

/// The types whose values documents have, or have as texts.
std::optional<PathTarget> targetOf(Oid type) {
   switch (type) {
   case oid::int2: return PathTarget::Int2;
   case oid::int4: return PathTarget::Int4;
   case oid::int8: return PathTarget::Int8;
   case oid::float8: return PathTarget::Float8;
   case oid::numeric: return PathTarget::Numeric;
   case oid::boolean: return PathTarget::Boolean;
   case oid::date: return PathTarget::Date;
   default: return std::nullopt;
   }
}

/// "doc->'by'->>'name'", for EXPLAIN.
std::string nameOf(const Query& query, const Found& found) {
   std::string name = query.columns[found.document].name;
   for (size_t i = 0; i < found.access.keys.size(); ++i) {
      const bool isValue = found.access.form == PathForm::Json || found.access.form == PathForm::HasValue;
      const bool isText = !isValue && i + 1 == found.access.keys.size();
      name += (isText ? "->>'" : "->'") + found.access.keys[i] + "'";
   }
   return name;
}

class PathReading {
public:
   explicit PathReading(Query& query) : query_(query) {}

   /// Documents that an operator sees, and the Gets that give them.
   using Documents = std::unordered_map<ColumnId, op::Get*>;

   /// The documents among the operator's output.
   Documents visit(Rel& rel, const Documents& outer) {
      checkStack();
      Documents visible;
      for (size_t i = 0; i < rel.inputs.size(); ++i) {
         Documents known = outer;
         if (rel.kind == RelKind::Join) known.insert(visible.begin(), visible.end()); // LATERAL
         const Documents given = visit(*rel.inputs[i], known);
         if (rel.kind != RelKind::Join || i == 0 || showsRight(rel)) visible.insert(given.begin(), given.end());
         if (rel.kind == RelKind::Join && i == 1) replaceIn(rel, joined(visible, given, outer));
      }
      if (auto* with = rel.getIf<op::With>())
         for (Cte& cte : with->ctes) {
            visit(*cte.query, outer);
            if (cte.recursive) visit(*cte.recursive, outer);
         }
      if (auto* get = rel.getIf<op::Get>(); get && rel.kind == RelKind::Get)
         for (const GetColumn& column : get->columns)
            if (query_.columns[column.column].type.oid == oid::jsonb && column.attribute > 0)
               visible.emplace(column.column, get);
      if (rel.kind != RelKind::Join) replaceIn(rel, joined(visible, {}, outer));
      if (!handsOn(rel)) visible.clear();
      return visible;
   }

private:
   static Documents joined(Documents a, const Documents& b, const Documents& c) {
      a.insert(b.begin(), b.end());
      a.insert(c.begin(), c.end());
      return a;
   }
   static bool showsRight(const Rel& join) {
      const JoinKind kind = join.as<op::Join>().kind;
      return kind != JoinKind::Semi && kind != JoinKind::Anti && kind != JoinKind::Mark;
   }
   /// Whether the operator's output has all columns of its input.
   static bool handsOn(const Rel& rel) {
      switch (rel.kind) {
      case RelKind::Get:
      case RelKind::Select:
      case RelKind::Map:
      case RelKind::ProjectSet:
      case RelKind::TableFunction:
      case RelKind::Join:
      case RelKind::Window:
      case RelKind::Sort:
      case RelKind::Limit:
      case RelKind::LockRows:
      case RelKind::With: return true;
      default: return false;
      }
   }
   static bool isWrite(const Rel& rel) {
      return rel.kind == RelKind::Insert || rel.kind == RelKind::Update || rel.kind == RelKind::Delete ||
             rel.kind == RelKind::Merge;
   }

   void replaceIn(Rel& rel, const Documents& documents) {
      if (isWrite(rel)) return; // reads the new rows
      forEachOwnExpr(rel, [&](ExprPtr& expr) { replace(expr, documents); });
   }

   void replace(ExprPtr& expr, const Documents& documents) {
      checkStack();
      if (auto* subquery = expr->getIf<scalar::Subquery>()) visit(*subquery->query, documents);
      if (replaceTest(*expr, documents) || replaceCast(expr, documents)) return;
      Found found;
      if (const auto form = formOf(*expr); form && matchSteps(*expr, found) && !found.access.keys.empty())
         if (const auto it = documents.find(found.document); it != documents.end()) {
            found.access.form = *form;
            expr = column(*it->second, found, expr->type);
            return;
         }
      for (ExprPtr& arg : expr->args)
         replace(arg, documents);
   }

   /// A test for NULL of what the document gives: nobody asks for the value. True if it was replaced.
   bool replaceTest(Expr& test, const Documents& documents) {
      if (test.kind != ExprKind::IsNull && test.kind != ExprKind::IsNotNull) return false;
      Found found;
      const auto form = formOf(*test.args[0]);
      if (!form || !matchSteps(*test.args[0], found) || found.access.keys.empty()) return false;
      const auto it = documents.find(found.document);
      if (it == documents.end()) return false;
      found.access.form = *form == PathForm::Text ? PathForm::HasText : PathForm::HasValue;
      test.args[0] = column(*it->second, found, {oid::boolean, -1, invalidOid});
      return true;
   }

   /// A cast of a text that the document gives. True if it was replaced.
   bool replaceCast(ExprPtr& expr, const Documents& documents) {
      const Expr& cast = *expr;
      if (cast.kind != ExprKind::TextCast) return false;
      const auto target = targetOf(cast.type.oid);
      Found found;
      const Expr& text = *cast.args[0];
      if (!target || formOf(text) != PathForm::Text || !matchSteps(text, found) || found.access.keys.empty())
         return false;
      const auto it = documents.find(found.document);
      if (it == documents.end()) return false;
      found.access.target = *target;
      if (auto certain = certainColumn(*it->second, found, cast.type)) {
         expr = std::move(certain);
         return true;
      }
      const SqlType textType = text.type;
      auto rest = makeTyped(ExprKind::TextCast, cast.type, cast.position);
      found.access.form = PathForm::Rest;
      rest->args.push_back(column(*it->second, found, textType));
      found.access.form = PathForm::Value;
      ExprPtr value = column(*it->second, found, cast.type);
      ExprPtr both = makeTyped(ExprKind::Coalesce, cast.type, cast.position);
      both->args.push_back(std::move(value));
      both->args.push_back(std::move(rest));
      expr = std::move(both);
      return true;
   }

   /// A column without a rest, where statistics say that all texts at the path are of the type; else null.
   ExprPtr certainColumn(op::Get& get, Found found, const SqlType& type) {
      if (query_.context.forReuse || !query_.context.statistics || get.seesWith) return nullptr;
      const auto summary =
          query_.context.statistics->pathSummary(get.table, attributeOf(get, found.document), found.access.keys);
      if (!summary.isExact) return nullptr;
      found.access.form = PathForm::Value;
      found.access.isCertain = true;
      using storage::NodeKind;
      const auto isOnly = [&summary](NodeKind kind) {
         return summary.count(kind) + summary.count(NodeKind::Null) == summary.total();
      };
      switch (found.access.target) {
      case PathTarget::Boolean: return isOnly(NodeKind::Boolean) ? column(get, found, type) : nullptr;
      case PathTarget::Date:
         if (!isOnly(NodeKind::String) || !summary.areDates) return nullptr;
         return column(get, found, type, summary.earliest, summary.latest);
      default: return isOnly(NodeKind::Number) ? certainNumber(get, found, type, summary) : nullptr;
      }
   }

   ExprPtr certainNumber(op::Get& get, Found& found, const SqlType& type, const storage::PathSummary& summary) {
      if (!summary.areAlike) return nullptr;
      const bool isEmpty = summary.count(storage::NodeKind::Number) == 0;
      const int64_t low = isEmpty ? 0 : summary.smallest, high = isEmpty ? 0 : summary.largest;
      switch (found.access.target) {
      case PathTarget::Float8: return column(get, found, type);
      case PathTarget::Numeric:
         if (summary.scale > scaleMax) return nullptr;
         found.access.scale = summary.scale;
         return column(get, found, type, low, high);
      case PathTarget::Int2:
         if (low < INT16_MIN || high > INT16_MAX) return nullptr;
         break;
      case PathTarget::Int4:
         if (low < INT32_MIN || high > INT32_MAX) return nullptr;
         break;
      default: break;
      }
      return summary.scale == 0 ? column(get, found, type, low, high) : nullptr;
   }

   static int16_t attributeOf(const op::Get& get, ColumnId document) {
      return std::find_if(get.columns.begin(), get.columns.end(),
                          [&](const GetColumn& one) { return one.column == document; })
          ->attribute;
   }

   /// The column that the Get gives for the access. `smallest`, `largest`: its bounds, if there are any.
   ExprPtr column(op::Get& get, const Found& found, const SqlType& type, int64_t smallest = 1, int64_t largest = 0) {
      const int16_t attribute = attributeOf(get, found.document);
      for (const GetPath& path : get.paths)
         if (path.attribute == attribute && path.access == found.access && query_.columns[path.column].type == type)
            return query_.ref(path.column);
      const ColumnId made = query_.newColumn(nameOf(query_, found), type, true);
      get.paths.push_back({made, attribute, found.access, smallest, largest, presentIn(get, attribute, found.access)});
      return query_.ref(made);
   }

   /// Of a Value as of its text: where there are texts of another type, most are of the type.
   double presentIn(const op::Get& get, int16_t attribute, const PathAccess& access) const {
      if (!query_.context.statistics || access.form == PathForm::Rest) return -1;
      const auto summary = query_.context.statistics->pathSummary(get.table, attribute, access.keys);
      if (!summary.isExact) return -1;
      const bool isNullValue = access.form == PathForm::Json || access.form == PathForm::HasValue;
      return static_cast<double>(summary.total() - (isNullValue ? 0 : summary.count(storage::NodeKind::Null)));
   }

   Query& query_;
};

} // namespace

void readPaths(RelPtr& root, Query& query) {
   PathReading(query).visit(*root, {});
}

} // namespace ouzel::optimizer
