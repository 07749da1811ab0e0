#include "tests/unit/optimizer/random_query.hpp"

#include "catalog/builtin/builtin.hpp"
#include "sql/algebra/build.hpp"

namespace ouzel::test {

using namespace sql;

namespace {

const SqlType int8{oid::int8};

ExprPtr number(int64_t value) {
   return makeConstant(int8, Value::integer(PhysicalType::I64, value));
}

const catalog::FunctionInfo* plus() {
   const Oid types[2] = {oid::int8, oid::int8};
   return catalog::builtins().findFunction("int8pl", types);
}

} // namespace

uint32_t RandomQuery::chance(uint32_t below) {
   state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
   return static_cast<uint32_t>((state_ >> 33) % below);
}

ColumnId RandomQuery::column(const char* name, bool nullable) {
   ColumnInfo info;
   info.name = name;
   info.type = int8;
   info.repr = storedRepresentation(int8);
   info.nullable = nullable;
   return query_.columns.add(std::move(info));
}

ExprPtr RandomQuery::value(const Columns& scope) {
   if (scope.empty() || chance(6) == 0) return chance(10) == 0 ? makeNull(int8) : number(chance(4));
   ExprPtr expr = makeColumn(scope[chance(static_cast<uint32_t>(scope.size()))], int8);
   if (chance(5) != 0) return expr;
   std::vector<ExprPtr> args;
   args.push_back(std::move(expr));
   args.push_back(number(chance(3)));
   return makeCall(plus(), int8, std::move(args));
}

ExprPtr RandomQuery::test(const Columns& scope, const Columns& outer, uint32_t depth) {
   Columns all = scope;
   all.insert(all.end(), outer.begin(), outer.end());
   if (depth > 0 && chance(3) == 0) return subquery(all, depth - 1, false);
   switch (chance(10)) {
   case 0: {
      auto expr = std::make_unique<Expr>(chance(2) ? ExprKind::IsNull : ExprKind::IsNotNull, SqlType{oid::boolean});
      expr->args.push_back(value(all));
      return expr;
   }
   case 1: {
      auto expr = std::make_unique<Expr>(ExprKind::InList, SqlType{oid::boolean});
      expr->as<scalar::InList>().negated = chance(2);
      expr->args.push_back(value(all));
      for (int i = 0; i < 2; ++i)
         expr->args.push_back(number(chance(4)));
      return expr;
   }
   case 2:
      return makeCompare(chance(2) ? CompareOp::IsDistinctFrom : CompareOp::IsNotDistinctFrom, value(all), value(all));
   case 3:
   case 4: return makeCompare(static_cast<CompareOp>(1 + chance(5)), value(all), value(all));
   default:
      if (!outer.empty() && chance(2))
         return makeCompare(CompareOp::Eq, value(scope),
                            makeColumn(outer[chance(static_cast<uint32_t>(outer.size()))], int8));
      return makeCompare(CompareOp::Eq, value(all), value(all));
   }
}

ExprPtr RandomQuery::predicate(const Columns& scope, const Columns& outer, uint32_t depth) {
   std::vector<ExprPtr> parts;
   const uint32_t count = 1 + chance(2);
   for (uint32_t i = 0; i < count; ++i) {
      ExprPtr part = test(scope, outer, depth);
      if (chance(6) == 0) part = makeNot(std::move(part));
      if (chance(8) == 0) {
         std::vector<ExprPtr> either;
         either.push_back(std::move(part));
         either.push_back(test(scope, outer, depth));
         part = makeOr(std::move(either));
      }
      parts.push_back(std::move(part));
   }
   return makeAnd(std::move(parts));
}

ExprPtr RandomQuery::subquery(const Columns& scope, uint32_t depth, bool isScalar) {
   Columns out;
   const SqlType boolean{oid::boolean};
   if (isScalar) {
      RelPtr query = chance(2) ? group(out, scope, depth, true) : limited(out, scope, depth, 1);
      ColumnId column = out[chance(static_cast<uint32_t>(out.size()))];
      if (chance(8) == 0 && !scope.empty()) column = scope[0]; // (SELECT outer.x FROM ...)
      return makeSubquery(SubqueryKind::Scalar, int8, std::move(query), {column});
   }
   if (chance(3) == 0) {
      auto expr = makeSubquery(SubqueryKind::Exists, boolean, relation(out, scope, depth), {});
      return chance(2) ? std::move(expr) : makeNot(std::move(expr));
   }
   if (chance(4) == 0)
      return makeCompare(static_cast<CompareOp>(chance(6)), value(scope), subquery(scope, depth, true));
   auto expr = makeSubquery(chance(3) ? SubqueryKind::Any : SubqueryKind::All, boolean, nullptr, {});
   auto& subquery = expr->as<scalar::Subquery>();
   subquery.op = chance(3) ? CompareOp::Eq : static_cast<CompareOp>(chance(6));
   expr->args.push_back(value(scope));
   subquery.query = relation(out, scope, depth);
   subquery.columns.push_back(out[chance(static_cast<uint32_t>(out.size()))]);
   return chance(2) ? std::move(expr) : makeNot(std::move(expr));
}

RelPtr RandomQuery::table(Columns& out) {
   auto get = std::make_unique<Rel>(RelKind::Get);
   get->as<op::Get>().table.relation = 1 + chance(3);
   get->as<op::Get>().table.name = std::string(1, static_cast<char>('r' + get->as<op::Get>().table.relation));
   for (int16_t i = 0; i < 3; ++i) {
      get->as<op::Get>().columns.push_back({column("c", i != 0), static_cast<int16_t>(i + 1)});
      out.push_back(get->as<op::Get>().columns.back().column);
   }
   return get;
}

void RandomQuery::addAggregates(op::GroupBy& group, Columns& out, const Columns& in, const Columns& outer) {
   static const char* const names[] = {"count", "sum", "min", "max"};
   for (uint32_t i = 0; i <= chance(2); ++i) {
      AggregateCall call;
      const char* name = names[chance(4)];
      call.type = int8;
      call.column = column(name);
      const Oid any = oid::any, type = oid::int8;
      const Oid* argument = std::string_view(name) == "count" ? &any : &type;
      call.function = catalog::builtins().findFunction(name, std::span<const Oid>(argument, 1));
      call.distinct = chance(4) == 0;
      call.args.push_back(chance(6) == 0 && !outer.empty() ? value(outer) : value(in));
      out.push_back(call.column);
      group.aggregates.push_back(std::move(call));
   }
}

RelPtr RandomQuery::group(Columns& out, const Columns& outer, uint32_t depth, bool isStatic) {
   Columns in;
   auto rel = std::make_unique<Rel>(RelKind::GroupBy);
   rel->inputs.push_back(relation(in, outer, depth));
   if (!isStatic)
      for (uint32_t i = 0; i <= chance(2); ++i) {
         rel->as<op::GroupBy>().keys.push_back({column("k"), value(in)});
         out.push_back(rel->as<op::GroupBy>().keys.back().column);
      }
   addAggregates(rel->as<op::GroupBy>(), out, in, outer);
   if (chance(3) != 0) return rel;
   auto having = std::make_unique<Rel>(RelKind::Select);
   having->as<op::Select>().predicate = predicate(out, outer, 0);
   having->inputs.push_back(std::move(rel));
   return having;
}

RelPtr RandomQuery::limited(Columns& out, const Columns& outer, uint32_t depth, int64_t limit) {
   auto sort = std::make_unique<Rel>(RelKind::Sort);
   sort->inputs.push_back(relation(out, outer, depth));
   for (const ColumnId c : out)
      sort->as<op::Sort>().keys.push_back({makeColumn(c, int8), chance(2) == 0, chance(2) == 0});
   auto rel = std::make_unique<Rel>(RelKind::Limit);
   rel->as<op::Limit>().limit = number(limit);
   if (chance(3) == 0) rel->as<op::Limit>().offset = number(1);
   rel->inputs.push_back(std::move(sort));
   return rel;
}

RelPtr RandomQuery::relation(Columns& out, const Columns& outer, uint32_t depth) {
   if (depth == 0 && !outer.empty() && chance(6) == 0) { // (SELECT outer.x + 1 AS a, outer.y AS b)
      auto unit = std::make_unique<Rel>(RelKind::Values);
      unit->as<op::Values>().rows.emplace_back();
      auto map = std::make_unique<Rel>(RelKind::Map);
      map->inputs.push_back(std::move(unit));
      for (int i = 0; i < 2; ++i) {
         map->as<op::Map>().computed.push_back({column("o"), value(outer)});
         out.push_back(map->as<op::Map>().computed.back().column);
      }
      return map;
   }
   if (depth == 0) {
      RelPtr rel = table(out);
      if (chance(2)) return rel;
      auto select = std::make_unique<Rel>(RelKind::Select);
      select->as<op::Select>().predicate = predicate(out, outer, 0);
      select->inputs.push_back(std::move(rel));
      return select;
   }
   switch (chance(10)) {
   case 9: {
      auto rel = std::make_unique<Rel>(RelKind::Barrier);
      rel->inputs.push_back(relation(out, outer, depth - 1));
      return rel;
   }
   case 0:
   case 1: {
      auto rel = std::make_unique<Rel>(RelKind::Select);
      rel->inputs.push_back(relation(out, outer, depth - 1));
      rel->as<op::Select>().predicate = predicate(out, outer, depth);
      return rel;
   }
   case 2: {
      auto rel = std::make_unique<Rel>(RelKind::Map);
      rel->inputs.push_back(relation(out, outer, depth - 1));
      Columns all = out;
      all.insert(all.end(), outer.begin(), outer.end());
      const bool scalar = chance(2);
      ExprPtr expr = scalar ? subquery(all, depth - 1, true) : value(all);
      rel->as<op::Map>().computed.push_back({column("m"), std::move(expr)});
      out.push_back(rel->as<op::Map>().computed.back().column);
      return rel;
   }
   case 3:
   case 4: {
      static const JoinKind kinds[] = {JoinKind::Inner, JoinKind::Left, JoinKind::Right, JoinKind::Full,
                                       JoinKind::Inner};
      auto rel = std::make_unique<Rel>(RelKind::Join);
      rel->as<op::Join>().kind = kinds[chance(5)];
      Columns left, right;
      const uint64_t before = state_;
      rel->inputs.push_back(relation(left, outer, depth - 1));
      const bool again = chance(4) == 0; // the same subplan twice
      const bool lateral = !again && rel->as<op::Join>().kind != JoinKind::Right &&
                           rel->as<op::Join>().kind != JoinKind::Full && chance(3) == 0;
      Columns scope = outer;
      if (lateral) scope.insert(scope.end(), left.begin(), left.end());
      if (again) state_ = before;
      rel->as<op::Join>().dependent = lateral;
      rel->inputs.push_back(relation(right, scope, depth - 1));
      out = left;
      out.insert(out.end(), right.begin(), right.end());
      const bool plain = rel->as<op::Join>().kind == JoinKind::Full; // a subquery on both sides is not supported there
      if (chance(8)) rel->as<op::Join>().predicate = predicate(out, outer, plain ? 0 : depth - 1);
      return rel;
   }
   case 5: return group(out, outer, depth - 1, chance(3) == 0);
   case 6: {
      auto rel = std::make_unique<Rel>(RelKind::Distinct);
      Columns in;
      rel->inputs.push_back(relation(in, outer, depth - 1));
      for (const ColumnId c : in)
         if (out.empty() || chance(2)) out.push_back(c);
      rel->as<op::Distinct>().columns = out;
      return rel;
   }
   case 7: {
      auto rel = std::make_unique<Rel>(RelKind::SetOp);
      rel->as<op::SetOp>().kind = static_cast<SetOpKind>(chance(3));
      rel->as<op::SetOp>().all = chance(2);
      Columns sides[2];
      for (Columns& side : sides)
         rel->inputs.push_back(relation(side, outer, depth - 1));
      const size_t width = std::min<size_t>({sides[0].size(), sides[1].size(), 2});
      for (size_t i = 0; i < width; ++i) {
         out.push_back(column("u"));
         rel->as<op::SetOp>().columns.push_back(out.back());
         rel->as<op::SetOp>().inputColumns[0].push_back(sides[0][i]);
         rel->as<op::SetOp>().inputColumns[1].push_back(!outer.empty() && chance(10) == 0 ? outer[0] : sides[1][i]);
      }
      return rel;
   }
   default: return limited(out, outer, depth - 1, 1 + chance(3));
   }
}

BoundQuery RandomQuery::make(uint32_t depth) {
   query_ = BoundQuery();
   Columns out;
   query_.root = relation(out, {}, depth);
   for (const ColumnId c : out)
      query_.output.push_back({"c", c, int8});
   return std::move(query_);
}

BoundQuery RandomQuery::makeJoins(uint32_t relations, bool outerJoins) {
   query_ = BoundQuery();
   struct Part {
      RelPtr rel;
      Columns columns;
   };
   std::vector<Part> parts;
   for (uint32_t i = 0; i < relations; ++i) {
      Part part;
      part.rel = table(part.columns);
      parts.push_back(std::move(part));
   }
   static const JoinKind kinds[] = {JoinKind::Inner, JoinKind::Left, JoinKind::Full,
                                    JoinKind::Semi,  JoinKind::Anti, JoinKind::Inner};
   while (parts.size() > 1) {
      const uint32_t at = chance(static_cast<uint32_t>(parts.size() - 1));
      Part& left = parts[at];
      Part& right = parts[at + 1];
      auto join = std::make_unique<Rel>(RelKind::Join);
      join->as<op::Join>().kind = outerJoins ? kinds[chance(6)] : JoinKind::Inner;
      std::vector<ExprPtr> conjuncts;
      for (uint32_t i = 0; i <= chance(2); ++i) {
         const auto any = [this](const Columns& columns) {
            return columns[chance(static_cast<uint32_t>(columns.size()))];
         };
         const CompareOp op = chance(5) == 0 ? static_cast<CompareOp>(chance(8)) : CompareOp::Eq;
         conjuncts.push_back(
             makeCompare(op, makeColumn(any(left.columns), int8), makeColumn(any(right.columns), int8)));
         if (chance(8) == 0) { // not null-rejecting
            auto test = std::make_unique<Expr>(ExprKind::IsNull, SqlType{oid::boolean});
            test->args.push_back(makeColumn(any(left.columns), int8));
            std::vector<ExprPtr> either;
            either.push_back(std::move(conjuncts.back()));
            either.push_back(std::move(test));
            conjuncts.back() = makeOr(std::move(either));
         }
      }
      if (chance(10) != 0) join->as<op::Join>().predicate = makeAnd(std::move(conjuncts));
      join->inputs.push_back(std::move(left.rel));
      join->inputs.push_back(std::move(right.rel));
      if (join->as<op::Join>().kind != JoinKind::Semi && join->as<op::Join>().kind != JoinKind::Anti)
         left.columns.insert(left.columns.end(), right.columns.begin(), right.columns.end());
      left.rel = std::move(join);
      parts.erase(parts.begin() + at + 1);
   }
   for (const ColumnId c : parts[0].columns)
      query_.output.push_back({"c", c, int8});
   query_.root = std::move(parts[0].rel);
   return std::move(query_);
}

BoundQuery RandomQuery::makeGroupedJoins(uint32_t relations) {
   query_ = makeJoins(relations, false);
   Columns in, out;
   for (const OutputColumn& column : query_.output)
      in.push_back(column.column);
   op::GroupBy group;
   for (uint32_t i = 0; i <= chance(3); ++i) {
      group.keys.push_back({column("k"), makeColumn(in[chance(static_cast<uint32_t>(in.size()))], int8)});
      out.push_back(group.keys.back().column);
   }
   addAggregates(group, out, in, {});
   if (chance(3) == 0) { // GROUPING SETS of random keys, with or without one that has them all
      for (uint32_t i = 0; i <= chance(4); ++i) {
         std::vector<uint32_t>& set = group.groupingSets.emplace_back();
         for (uint32_t k = 0; k < group.keys.size(); ++k)
            if (chance(2) == 0) set.push_back(k);
      }
      if (chance(4) != 0) {
         std::vector<uint32_t>& finest = group.groupingSets.emplace_back();
         for (uint32_t k = 0; k < group.keys.size(); ++k)
            finest.push_back(k);
      }
      group.groupingCalls.push_back({column("grouping"), {0}});
      query_.columns[group.groupingCalls.back().column].type = SqlType{oid::int4};
      out.push_back(group.groupingCalls.back().column);
   }
   query_.root = makeRel(RelKind::GroupBy, std::move(group), std::move(query_.root));
   query_.output.clear();
   for (const ColumnId c : out)
      query_.output.push_back({"c", c, int8});
   return std::move(query_);
}

} // namespace ouzel::test
