#include "sql/bind/function/routine_body.hpp"

#include <algorithm>
#include <set>

#include "catalog/object/function_text.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/expression/row.hpp"
#include "sql/bind/state/nested_query.hpp"
#include "sql/bind/state/view_text.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// The body of a function in SQL: what it sees, and what its last query has to return.

namespace ouzel::sql {

using catalog::Function;
using catalog::FunctionParameter;

namespace {

/// The type, with a polymorphic one resolved by the types of the arguments.
SqlType resolved(const Function& function, std::span<const Oid> declared, const SqlType& type) {
   if (!isPolymorphic(type.oid)) return type.domain ? type : plainType(type.oid);
   std::vector<Oid> parameters(function.info().argTypes.begin(), function.info().argTypes.end());
   return plainType(enforceGenericConsistency(declared, parameters, type.oid));
}

/// The schemas in the text of a search_path.
catalog::SearchPath pathOf(const BindContext& context, const std::string& value) {
   std::vector<std::string> schemas;
   for (size_t at = 0; at < value.size();) {
      const size_t end = std::min(value.find(',', at), value.size());
      std::string part = value.substr(at, end - at);
      part.erase(0, part.find_first_not_of(' '));
      while (!part.empty() && part.back() == ' ')
         part.pop_back();
      if (part.size() > 1 && part.front() == '"') part = part.substr(1, part.size() - 2);
      schemas.push_back(std::move(part));
      at = end + 1;
   }
   auto path = catalog::SearchPath::resolve(context.catalog, schemas, {}, context.searchPath.temporary);
   path.role = context.searchPath.role;
   return path;
}

[[noreturn]] void throwMismatch(const RoutineResult& result, const std::string& detail) {
   throw SqlError(sqlstate::invalidFunctionDefinition,
                  "return type mismatch in function declared to return " + typeName(result.type.named()))
       .detail(detail);
}

} // namespace

std::optional<catalog::SearchPath> bodyPath(const BindContext& context, const Function& function) {
   std::optional<catalog::SearchPath> path;
   if (!function.bodyPath.empty()) path = pathOf(context, function.bodyPath);
   for (const auto& [name, value] : function.settings)
      if (name == "search_path") path = pathOf(context, value);
   return path;
}

RoutineResult resultOf(BindState& state, const Function& function, std::span<const Oid> declared,
                       const ::List* definitions, uint32_t position) {
   RoutineResult result;
   result.type = resolved(function, declared, function.returnType);
   for (const FunctionParameter& parameter : function.parameters)
      if (parameter.isOutput())
         result.columns.push_back(
             {parameter.name.empty() ? "column" + std::to_string(result.columns.size() + 1) : parameter.name,
              resolved(function, declared, parameter.type)});
   const bool isTable = std::any_of(function.parameters.begin(), function.parameters.end(),
                                    [](const FunctionParameter& parameter) { return parameter.mode == 't'; });
   if (result.columns.size() == 1 && !isTable && result.type.oid != oid::record)
      result.columns.clear(); // the value itself
   if (result.columns.size() == 1 && isTable && !isRowType(result.type.oid)) result.columns.clear();
   if (!result.columns.empty()) {
      if (definitions)
         throw SqlError(sqlstate::syntaxError,
                        "a column definition list is redundant for a function with OUT parameters")
             .at(position);
      return result;
   }
   if (result.type.oid == oid::record) {
      if (!definitions) return result;
      for (const ::ColumnDef* definition : ListOf<::ColumnDef>(definitions))
         result.columns.push_back({definition->colname, resolveColumnType(*definition, state.context)});
      return result;
   }
   if (definitions)
      throw SqlError(sqlstate::syntaxError,
                     isRowType(result.type.oid)
                         ? "a column definition list is redundant for a function returning a named composite type"
                         : "a column definition list is only allowed for functions returning \"record\"")
          .at(position);
   if (!isRowType(result.type.oid) || result.type.domain) return result;
   const auto relation = state.context.catalog.relationOfType(result.type.oid);
   if (!relation) throwInternal("the type that a function returns does not exist");
   for (const catalog::Column& column : relation->columns)
      if (!column.isDropped) result.columns.push_back({column.name, column.type});
   return result;
}

InBody::InBody(BindState& state, const Function& function, const std::vector<ExprPtr>& args)
   : state_(state), source_(std::exchange(state.source, nullptr)), recursion_(std::exchange(state.recursion, {})),
     inlineArgs_(std::exchange(state.inlineArgs, &args)), routine_(std::exchange(state.routine, &function)),
     path_(state.bodyPath), recorder_(std::exchange(state.recorder, nullptr)), role_(state.access.role),
     routineRole_(state.routineRole), ownPath_(bodyPath(state.context, function)) {
   if (ownPath_) state.bodyPath = &*ownPath_;
   state.naming.usePath(state.bodyPath);
   // A function acts for whoever calls it, also where a view's owner is asked for the view's relations.
   if (function.isSecurityDefiner) state.routineRole = function.owner;
   state.access.role = state.routineRole;
   state.openRoutines.push_back(function.oid);
}

InBody::~InBody() {
   state_.openRoutines.pop_back();
   state_.routineRole = routineRole_;
   state_.access.role = role_;
   state_.recorder = recorder_;
   state_.bodyPath = path_;
   state_.naming.usePath(path_);
   state_.routine = routine_;
   state_.inlineArgs = inlineArgs_;
   state_.recursion = recursion_;
   state_.source = source_;
}

std::vector<ExprPtr> placeholders(BindState& state, const Function& function, std::span<const Oid> declared) {
   std::vector<ExprPtr> args;
   size_t next = 0;
   for (const FunctionParameter& parameter : function.parameters) {
      if (!parameter.isInput()) continue;
      const SqlType type = parameter.type.domain ? parameter.type : plainType(declared[next]);
      args.push_back(makeColumn(state.addColumn(noLevel, parameter.name, type), type));
      ++next;
   }
   return args;
}

namespace {

/// The values of the query's columns for the columns of the row that is returned.
std::vector<ExprPtr> fieldsFor(BindState& state, const BoundRel& query, const RoutineResult& result) {
   std::vector<ExprPtr> values;
   const bool isWhole = query.output.size() == 1 && isRowType(query.output[0].type.oid) &&
                        (query.output[0].type.oid == result.type.oid ||
                         (result.columns.size() > 1 && query.output[0].type.oid != oid::record));
   if (isWhole) {
      for (RowMember& member : membersOf(state, makeColumn(query.output[0].column, query.output[0].type)))
         values.push_back(std::move(member.expr));
      return values;
   }
   for (const OutputColumn& output : query.output)
      values.push_back(makeColumn(output.column, output.type));
   return values;
}

} // namespace

std::vector<SqlType> rowTarget(const ::SelectStmt& select, const RoutineResult& result) {
   const ListOf<::ResTarget> targets(select.targetList);
   const bool isOneRow = targets.size() == 1 && isNode(targets.front()->val, T_RowExpr);
   std::vector<SqlType> types;
   if (isOneRow && isRowType(result.type.oid) && result.type.oid != oid::record) {
      types.push_back(result.type);
   } else if (targets.size() == result.columns.size()) {
      for (const RoutineResult::Column& column : result.columns)
         types.push_back(isRowType(column.type.oid) ? column.type : plainType(oid::text));
   }
   return types;
}

BoundRel castResult(BindState& state, BoundRel query, const RoutineResult& result) {
   makeRowsValues(state, 0, query);
   std::vector<RoutineResult::Column> wanted = result.columns;
   std::vector<ExprPtr> values;
   if (result.isRow()) {
      values = fieldsFor(state, query, result);
      if (values.size() < wanted.size()) throwMismatch(result, "Final statement returns too few columns.");
      if (values.size() > wanted.size()) throwMismatch(result, "Final statement returns too many columns.");
   } else {
      if (query.output.size() != 1) throwMismatch(result, "Final statement must return exactly one column.");
      values.push_back(makeColumn(query.output[0].column, query.output[0].type));
      wanted.push_back({query.output[0].name, result.type});
   }
   std::vector<ComputedColumn> casts;
   query.output.clear();
   query.fields.clear();
   for (size_t i = 0; i < values.size(); ++i) {
      const SqlType given = values[i]->type;
      ExprPtr value = tryCoerce(state, values[i], wanted[i].type, CoercionContext::Assignment);
      if (!value && result.isRow())
         throwMismatch(result, "Final statement returns " + typeName(given.named()) + " instead of " +
                                   typeName(wanted[i].type.named()) + " at column " + std::to_string(i + 1) + ".");
      if (!value) throwMismatch(result, "Actual return type is " + typeName(given.named()) + ".");
      const SqlType type = value->type;
      const ColumnId column = state.addColumn(uint32_t{0}, wanted[i].name, type);
      casts.push_back({column, std::move(value)});
      query.output.push_back({wanted[i].name, column, type});
   }
   query.rel = makeMap(std::move(query.rel), std::move(casts));
   return query;
}

namespace {

[[noreturn]] void throwNoResult(const RoutineResult& result) {
   throwMismatch(result, "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.");
}

bool isDml(const ::Node& node) {
   return isNode(&node, T_InsertStmt) || isNode(&node, T_UpdateStmt) || isNode(&node, T_DeleteStmt) ||
          isNode(&node, T_MergeStmt);
}

} // namespace

void makeOneColumn(BindState& state, BoundRel& query, const RoutineResult& result) {
   if (!result.isRow()) return;
   auto row = makeTyped(ExprKind::Row, plainType(oid::record));
   for (const OutputColumn& output : query.output) {
      row->args.push_back(makeColumn(output.column, output.type));
      row->as<scalar::Row>().names.push_back(output.name);
   }
   const Oid type = result.type.oid;
   ExprPtr value = type == oid::record ? rowValue(state, std::move(row))
                                       : coerceRow(state, std::move(row), type, CoercionContext::Assignment);
   const SqlType valueType = value->type;
   const ColumnId column = state.addColumn(uint32_t{0}, "row", valueType);
   std::vector<ComputedColumn> computed;
   computed.push_back({column, std::move(value)});
   query.rel = makeMap(std::move(query.rel), std::move(computed));
   query.output = {{"row", column, valueType}};
}

RoutineResult runResult(BindState& state, const Function& function) {
   std::vector<Oid> declared;
   for (const ExprPtr& arg : *state.inlineArgs)
      declared.push_back(arg->type.oid);
   return resultOf(state, function, declared, nullptr, 0);
}

BoundRel routineRow(BindState& state, BoundRel query, const Function& function) {
   RoutineResult result = runResult(state, function);
   if (result.type.oid == oid::record && !result.isRow()) {
      for (const SqlType& type : state.context.routineColumns)
         result.columns.push_back({"column" + std::to_string(result.columns.size() + 1), type});
      for (size_t i = 0; i < query.output.size() && state.context.routineColumns.empty(); ++i)
         result.columns.push_back({query.output[i].name, query.output[i].type});
   }
   query = castResult(state, std::move(query), result);
   if (!result.isRow()) {
      result.columns.push_back({query.output[0].name, query.output[0].type});
      result.type = plainType(oid::record);
   }
   makeOneColumn(state, query, result);
   return query;
}

namespace {

/// What the recorder saw in the body, and what the body writes.
RoutineUse useOf(const BindState& state, const ViewTextRecorder& recorder, std::string_view source) {
   std::set<catalog::Dependency> relations;
   std::set<Oid> calls;
   const auto use = [&](Oid relation, int16_t attribute) {
      if (relation >= firstUserOid) relations.insert({relation, attribute});
   };
   for (const catalog::Dependency& read : recorder.dependencies())
      use(read.relation, read.attribute);
   for (const RelationAccess& access : state.access.all) {
      if (access.role != state.access.role || !state.context.catalog.relation(access.relation)) continue;
      constexpr uint32_t writes = catalog::privilege::insert | catalog::privilege::update | catalog::privilege::del;
      if (access.privileges & writes) use(access.relation, 0);
      for (const std::vector<int16_t>* written : {&access.inserted, &access.updated})
         for (const int16_t attribute : *written)
            use(access.relation, attribute);
   }
   catalog::forEachCall(recorder.apply(source, 0, static_cast<uint32_t>(source.size())),
                        [&](Oid called) { calls.insert(called); });
   return {{relations.begin(), relations.end()}, {calls.begin(), calls.end()}};
}

} // namespace

// ---- binder.hpp ----

RoutineUse checkRoutine(const Function& function, const BindContext& context) {
   BindState state(context);
   const catalog::FunctionInfo& info = function.info();
   const bool isPolymorphicCall = std::any_of(info.argTypes.begin(), info.argTypes.end(), isPolymorphic);
   const auto script = ParsedScript::parse(function.source);
   if (isPolymorphicCall) return {}; // as PostgreSQL, which cannot know the types
   const std::vector<ExprPtr> args = placeholders(state, function, info.argTypes);
   const RoutineResult result = resultOf(state, function, info.argTypes, nullptr, 0);
   const InBody body(state, function, args);
   state.source = &script.source();
   ViewTextRecorder recorder;
   recorder.nameRelationsByOid();
   if (function.bodyForm != 's') state.recorder = &recorder;
   // Nobody's rights are asked for here. Without a role, what views read for their owners has another one.
   state.access.role = state.routineRole = invalidOid;
   const bool isVoid = result.type.oid == oid::voidType;
   const auto& statements = script.statements();
   for (size_t i = 0; i < statements.size(); ++i) {
      const ::Node& node = *statements[i].node;
      const bool isLast = i + 1 == statements.size();
      BoundRel query;
      if (isNode(&node, T_SelectStmt))
         query = bindSelect(state, *as<::SelectStmt>(&node), nullptr,
                            isLast ? rowTarget(*as<::SelectStmt>(&node), result) : std::vector<SqlType>());
      else if (isDml(node))
         query = bindDml(state, node, nullptr);
      if (!isLast || isVoid) continue;
      if (query.output.empty() && !isNode(&node, T_SelectStmt)) throwNoResult(result);
      const bool isAnyRecord = result.type.oid == oid::record && !result.isRow();
      if (!isAnyRecord) castResult(state, std::move(query), result);
   }
   if (statements.empty() && !isVoid && function.functionKind == catalog::FunctionKind::Function) throwNoResult(result);
   return useOf(state, recorder, script.source().text());
}

} // namespace ouzel::sql
