#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/json/jsonpath_keys.hpp"
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

constexpr SqlType booleanType{oid::boolean, -1, invalidOid};
constexpr size_t keysMax = 16;   ///< of ?| and ?& that are tested one by one
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

/// Appends the elements that are not NULL; false if there are none, or many.
bool addTexts(const Value& array, std::vector<std::string>& texts) {
   const ArrayView view(array.bytes);
   for (ArrayView::Cursor text(view); text.next();) {
      if (text.isNull()) continue;
      if (texts.size() == keysMax) return false;
      texts.emplace_back(text.as<StringView>().view());
   }
   return !texts.empty();
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
   const PathAccess& access = found.access;
   const char* last = access.form == PathForm::HasKey ? " ? '" : access.givesOfNull() ? "->'" : "->>'";
   for (size_t i = 0; i < access.keys.size(); ++i)
      name += (i + 1 == access.keys.size() ? last : "->'") + access.keys[i] + "'";
   return access.form == PathForm::KindName ? "jsonb_typeof(" + name + ")" : name;
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
      case RelKind::Barrier:
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
      if (auto* select = rel.getIf<op::Select>()) replaceFilter(select->predicate, documents);
      if (auto* join = rel.getIf<op::Join>(); join && join->kind == JoinKind::Inner)
         replaceFilter(join->predicate, documents);
      if (auto* group = rel.getIf<op::GroupBy>())
         for (AggregateCall& call : group->aggregates)
            if (call.function->name == "count" && call.args.size() == 1 && !call.distinct)
               replacePresence(call.args[0], documents);
      forEachOwnExpr(rel, [&](ExprPtr& expr) { replace(expr, documents); });
   }

   void replace(ExprPtr& expr, const Documents& documents) {
      checkStack();
      if (auto* subquery = expr->getIf<scalar::Subquery>()) visit(*subquery->query, documents);
      if (const auto* function = functionOf(*expr); function && function->source == "jsonb_path_query_first")
         shortenPath(*expr, documents); // where nothing is found, it gives NULL, too
      if (replaceTest(*expr, documents) || replaceCast(expr, documents) || replaceKind(expr, documents) ||
          replaceKeyTest(expr, documents))
         return;
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
      if (replacePresence(test.args[0], documents)) return true;
      Found found;
      const auto form = formOf(*test.args[0]);
      if (!form || !matchSteps(*test.args[0], found) || found.access.keys.empty()) return false;
      const auto it = documents.find(found.document);
      if (it == documents.end()) return false;
      found.access.form = *form == PathForm::Text ? PathForm::HasText : PathForm::HasValue;
      test.args[0] = column(*it->second, found, booleanType);
      return true;
   }

   /// A document of which only matters whether it is there. True if it was replaced.
   bool replacePresence(ExprPtr& expr, const Documents& documents) {
      const auto it = expr->kind == ExprKind::Column ? documents.find(columnOf(*expr)) : documents.end();
      if (it == documents.end()) return false;
      Found found{columnOf(*expr), {}};
      found.access.form = PathForm::HasValue;
      expr = column(*it->second, found, booleanType);
      return true;
   }

   /// jsonb_typeof() of what the document gives. True if it was replaced.
   bool replaceKind(ExprPtr& expr, const Documents& documents) {
      const auto* function = functionOf(*expr);
      Found found;
      if (!function || function->source != "jsonb_typeof" || !matchSteps(*expr->args[0], found)) return false;
      const auto it = documents.find(found.document);
      if (it == documents.end()) return false;
      found.access.form = PathForm::KindName;
      expr = column(*it->second, found, expr->type);
      return true;
   }

   /// ? of what the document gives, and ?| and ?& of a few keys. True if it was replaced.
   bool replaceKeyTest(ExprPtr& expr, const Documents& documents) {
      const auto* function = functionOf(*expr);
      if (!function) return false;
      const bool isOne = function->source == "jsonb_exists", isAny = function->source == "jsonb_exists_any";
      Found found;
      if ((!isOne && !isAny && function->source != "jsonb_exists_all") || !matchSteps(*expr->args[0], found))
         return false;
      const auto it = documents.find(found.document);
      const Value* operand = knownValue(*expr->args[1]);
      if (it == documents.end() || !operand || operand->isNull) return false;
      std::vector<std::string> keys;
      if (isOne)
         keys.push_back(operand->bytes);
      else if (!addTexts(*operand, keys))
         return false;
      found.access.form = PathForm::HasKey;
      std::vector<ExprPtr> tests;
      for (const std::string& key : keys) {
         Found one = found;
         one.access.keys.push_back(key);
         tests.push_back(column(*it->second, one, booleanType));
      }
      if (tests.size() == 1) {
         expr = std::move(tests[0]);
      } else {
         ExprPtr all = makeTyped(isAny ? ExprKind::Or : ExprKind::And, booleanType, expr->position);
         all->args = std::move(tests);
         expr = std::move(all);
      }
      return true;
   }

   /// In a predicate that keeps the rows for which it is true, false may become NULL.
   void replaceFilter(ExprPtr& predicate, const Documents& documents) {
      if (!predicate) return;
      checkStack();
      if (predicate->kind == ExprKind::And || predicate->kind == ExprKind::Or) {
         for (ExprPtr& arg : predicate->args)
            replaceFilter(arg, documents);
         return;
      }
      const auto* function = functionOf(*predicate);
      if (function && (function->source == "jsonb_path_exists" || function->source == "jsonb_path_exists_opr"))
         shortenPath(*predicate, documents);
      else
         replaceContains(predicate, documents);
   }

   /// A call with a document and a jsonpath that begins with keys: reads what lies at these keys instead.
   void shortenPath(Expr& call, const Documents& documents) {
      const Value* path = knownValue(*call.args[1]);
      Found found;
      if (!path || path->isNull || !matchSteps(*call.args[0], found)) return;
      const auto it = documents.find(found.document);
      const auto cut = it == documents.end() ? std::nullopt : json::cutKeys(path->bytes);
      if (!cut) return;
      for (const std::string& key : cut->keys) {
         if (mayHaveArrays(*it->second, found)) return; // a lax path looks for the key in their elements
         found.access.keys.push_back(key);
      }
      const SqlType pathType = call.args[1]->type;
      call.args[0] = column(*it->second, found, call.args[0]->type);
      call.args[1] = makeConstant(pathType, Value::string(cut->rest));
   }

   bool mayHaveArrays(const op::Get& get, const Found& found) const {
      if (query_.context.forReuse || !query_.context.statistics || get.seesWith) return true;
      const auto summary =
          query_.context.statistics->pathSummary(get.table, attributeOf(get, found.document), found.access.keys);
      using storage::NodeKind;
      return !summary.isExact || summary.count(NodeKind::Array) > 0 || summary.count(NodeKind::EmptyArray) > 0;
   }

   /// document @> object becomes a comparison for each member.
   void replaceContains(ExprPtr& predicate, const Documents& documents) {
      const auto* function = functionOf(*predicate);
      const bool isContained = function && function->source == "jsonb_contained";
      if (!function || (function->source != "jsonb_contains" && !isContained)) return;
      Found found;
      const Value* operand = knownValue(*predicate->args[isContained ? 0 : 1]);
      if (!operand || operand->isNull || !matchSteps(*predicate->args[isContained ? 1 : 0], found)) return;
      const json::JsonbView object(operand->bytes);
      const auto it = documents.find(found.document);
      if (it == documents.end() || object.kind() != json::Kind::Object || object.size() == 0) return;
      ExprPtr members;
      addMembers(*it->second, found, object, members);
      predicate = std::move(members);
   }

   /// Adds what an object asks of the document's members to the conjunction.
   void addMembers(op::Get& get, const Found& around, const json::JsonbView& object, ExprPtr& all) {
      checkStack();
      for (uint32_t i = 0; i < object.size(); ++i) {
         Found member = around;
         member.access.keys.emplace_back(object.key(i));
         const json::JsonbView value = object.element(i);
         if (value.kind() == json::Kind::Object && value.size() > 0)
            addMembers(get, member, value, all);
         else
            all = conjunction(std::move(all), holds(get, member, value));
      }
   }

   /// Whether a member of the document contains the value: a scalar, an array, or an empty object.
   ExprPtr holds(op::Get& get, Found member, const json::JsonbView& value) {
      const SqlType textType{oid::text, -1, defaultCollation}, jsonbType{oid::jsonb, -1, invalidOid};
      if (value.kind() == json::Kind::Object) {
         member.access.form = PathForm::KindName;
         return makeCompare(CompareOp::Eq, column(get, member, textType),
                            makeConstant(textType, Value::string(std::string(json::nameOfKind(value.kind())))));
      }
      if (value.kind() == json::Kind::String && areAllTexts(get, member)) {
         member.access.form = PathForm::Text;
         return makeCompare(CompareOp::Eq, column(get, member, textType),
                            makeConstant(textType, Value::string(std::string(value.string()))));
      }
      if (value.kind() == json::Kind::Number) {
         const SqlType numericType{oid::numeric, -1, invalidOid};
         member.access.target = PathTarget::Numeric;
         if (ExprPtr number = certainColumn(get, member, numericType))
            return makeCompare(
                CompareOp::Eq, std::move(number),
                makeConstant(numericType, Value::string(std::string(value.number().view()), PhysicalType::Decimal)));
      }
      member.access = {member.access.keys, PathForm::Json};
      ExprPtr given = column(get, member, jsonbType);
      ExprPtr constant = makeConstant(jsonbType, Value::string(std::string(value.bytes())));
      if (value.kind() != json::Kind::Array) return makeCompare(CompareOp::Eq, std::move(given), std::move(constant));
      constexpr Oid types[] = {oid::jsonb, oid::jsonb};
      std::vector<ExprPtr> args;
      args.push_back(std::move(given));
      args.push_back(std::move(constant));
      return makeCall(catalog::builtins().findFunction("jsonb_contains", types), booleanType, std::move(args));
   }

   /// Whether statistics say that what lies at the path is a string or null.
   bool areAllTexts(const op::Get& get, const Found& member) const {
      if (query_.context.forReuse || !query_.context.statistics || get.seesWith) return false;
      const auto summary =
          query_.context.statistics->pathSummary(get.table, attributeOf(get, member.document), member.access.keys);
      using storage::NodeKind;
      return summary.isExact && summary.count(NodeKind::String) + summary.count(NodeKind::Null) == summary.total();
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
      get.paths.push_back({made, attribute, found.access, smallest, largest});
      count(get.table, get.paths.back());
      return query_.ref(made);
   }

   /// Of a Value as of its text: where there are texts of another type, most are of the type.
   void count(const TableRef& table, GetPath& path) const {
      if (!query_.context.statistics || path.access.form == PathForm::Rest) return;
      const auto summary = query_.context.statistics->pathSummary(table, path.attribute, path.access.valueKeys());
      const uint64_t nulls = path.access.givesOfNull() ? 0 : summary.count(storage::NodeKind::Null);
      const auto present = static_cast<double>(summary.total() - nulls);
      if (summary.isExact) path.present = present;
      const PathForm form = path.access.form;
      const bool isValue = form == PathForm::Json || form == PathForm::Text || form == PathForm::Value;
      // Sketches leave out what is not stored in columns.
      if (isValue && summary.sketch && static_cast<double>(summary.sketch->count) >= present / 2)
         path.distinct = std::clamp(summary.sketch->distinct.estimate(), 1.0, std::max(1.0, present));
   }

   Query& query_;
};

} // namespace

void readPaths(RelPtr& root, Query& query) {
   PathReading(query).visit(*root, {});
}

} // namespace ouzel::optimizer
