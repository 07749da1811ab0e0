#include "sql/plan/verify.hpp"

#include <catch2/catch.hpp>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"

// Breaks each rule of the verifier with one plan.

using namespace ouzel;
using namespace ouzel::sql;
using plan::Node;
using plan::NodePtr;

namespace {

const SqlType int4{oid::int4}, int8{oid::int8}, numeric{oid::numeric}, boolean{oid::boolean};
const SqlType money{oid::numeric, numericTypmod(15, 2)};

class Plans {
public:
   plan::Plan plan;

   ColumnId add(const char* name, const SqlType& type = int4) {
      ColumnInfo info;
      info.name = name;
      info.type = type;
      info.repr = storedRepresentation(type);
      return plan.columns.add(std::move(info));
   }
   ExprPtr ref(ColumnId column) const {
      ExprPtr expr = makeColumn(column, plan.columns[column].type);
      expr->repr = plan.columns[column].repr;
      return expr;
   }
   static NodePtr node(plan::Operator op, std::vector<ColumnId> output = {}) {
      auto result = std::make_unique<Node>(std::move(op));
      result->output = std::move(output);
      return result;
   }
   static NodePtr scan(std::vector<ColumnId> columns) {
      plan::TableScan scan;
      for (size_t i = 0; i < columns.size(); ++i)
         scan.columns.push_back({columns[i], static_cast<int16_t>(i + 1)});
      return node(std::move(scan), columns);
   }
   static NodePtr over(plan::Operator op, NodePtr child, std::vector<ColumnId> output) {
      NodePtr result = node(std::move(op), std::move(output));
      result->children.push_back(std::move(child));
      return result;
   }
   static plan::HashJoin& hashed(const NodePtr& join) { return join->as<plan::HashJoin>(); }
   NodePtr join(JoinKind kind, std::vector<ColumnId> output) const {
      NodePtr result = over(plan::HashJoin{}, scan({a}), std::move(output));
      result->children.push_back(scan({b}));
      hashed(result).kind = kind;
      hashed(result).keys.push_back({ref(a), ref(b)});
      return result;
   }
   static plan::Project computing(ColumnId column, ExprPtr expr) {
      plan::Project project;
      project.computed.push_back({column, std::move(expr)});
      return project;
   }
   std::string refusal(NodePtr root) {
      plan.root = std::move(root);
      try {
         verify(plan);
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() == sqlstate::internalError);
         return error.what();
      }
      return "";
   }
   bool refuses(NodePtr root, const char* rule) {
      const std::string message = refusal(std::move(root));
      CATCH_INFO(message);
      return message.find(rule) != std::string::npos;
   }
   /// Whether the verifier refuses an expression over column a by this rule.
   bool refuses(ExprPtr expr, const char* rule) {
      const ColumnId result = add("result", expr->type);
      plan.columns[result].repr = expr->repr;
      return refuses(over(computing(result, std::move(expr)), scan({a, m}), {result}), rule);
   }

   const ColumnId a = add("a"), b = add("b"), c = add("c", int8), m = add("m", money);
};

ExprPtr call(const char* name, const SqlType& type, std::vector<ExprPtr> args) {
   std::vector<Oid> types;
   for (const ExprPtr& arg : args)
      types.push_back(arg->type.oid);
   return makeCall(catalog::builtins().findFunction(name, types), type, std::move(args));
}

std::vector<ExprPtr> two(ExprPtr a, ExprPtr b) {
   std::vector<ExprPtr> result;
   result.push_back(std::move(a));
   result.push_back(std::move(b));
   return result;
}

ExprPtr convert(ExprPtr expr, Representation to) {
   auto result = std::make_unique<Expr>(ExprKind::Convert, expr->type);
   result->repr = to;
   result->args.push_back(std::move(expr));
   return result;
}

ExprPtr bigNumber(int64_t value) {
   return makeConstant(int8, Value::integer(PhysicalType::I64, value));
}

} // namespace

CATCH_TEST_CASE("sound plans pass, and a refusal names rule and node") {
   Plans p;
   CATCH_CHECK(p.refusal(p.join(JoinKind::Inner, {p.a, p.b})).empty());
   const std::string message = p.refusal(p.join(JoinKind::Inner, {p.c}));
   CATCH_CHECK(message.find("verification after lowering, Hash Join: a column that is read is made below: c#2") == 0);
}

CATCH_TEST_CASE("nodes give what their children give or they make, once") {
   Plans p;
   CATCH_CHECK(p.refuses(Plans::scan({p.a, p.a}), "a column is scanned once"));
   CATCH_CHECK(p.refuses(Plans::over(plan::Project{}, Plans::scan({p.a}), {p.a, p.a}), "gives a column once"));
   CATCH_CHECK(p.refuses(Plans::over(plan::Project{}, Plans::scan({p.a}), {p.b}), "is made below"));
   CATCH_CHECK(p.refuses(Plans::over(plan::Project{}, nullptr, {}), "a child is there"));
   CATCH_CHECK(p.refuses(Plans::node(plan::Sort{}), "a node has one child"));
   CATCH_CHECK(p.refuses(Plans::over(plan::Values{}, Plans::scan({p.a}), {}), "a source has no child"));
   CATCH_CHECK(p.refuses(Plans::over(plan::HashJoin{}, Plans::scan({p.a}), {}), "has two children"));
   CATCH_CHECK(p.refuses(Plans::over(plan::Filter{}, Plans::scan({p.a}), {p.a}), "a filter has predicates"));
   CATCH_CHECK(p.refuses(Plans::over(plan::Materialize{}, Plans::scan({p.a}), {p.a}), "With materialises"));
   NodePtr group = Plans::over(plan::Aggregate{}, Plans::scan({p.a}), {p.a});
   CATCH_CHECK(p.refuses(std::move(group), "is made below")); // only keys and aggregates are visible above
   p.plan.columns[p.a].repr = {PhysicalType::I64, 0};
   CATCH_CHECK(p.refuses(Plans::scan({p.a}), "as they are stored"));
}

CATCH_TEST_CASE("joins give the columns of their kind") {
   for (const JoinKind kind : {JoinKind::Semi, JoinKind::Anti}) {
      Plans p;
      CATCH_CHECK(p.refusal(p.join(kind, {p.a})).empty());
      CATCH_CHECK(p.refuses(p.join(kind, {p.b}), "is made below"));
   }
   for (const JoinKind kind : {JoinKind::RightSemi, JoinKind::RightAnti}) {
      Plans p;
      CATCH_CHECK(p.refusal(p.join(kind, {p.b})).empty());
      CATCH_CHECK(p.refuses(p.join(kind, {p.a}), "is made below"));
   }
   Plans p;
   CATCH_CHECK(p.refuses(p.join(JoinKind::Mark, {p.a}), "have a mark"));
   NodePtr marked = p.join(JoinKind::Mark, {p.a});
   Plans::hashed(marked).markColumn = p.c;
   CATCH_CHECK(p.refuses(std::move(marked), "a mark is a boolean"));
   NodePtr keyless = p.join(JoinKind::Inner, {p.a});
   Plans::hashed(keyless).keys.clear();
   CATCH_CHECK(p.refuses(std::move(keyless), "hash joins have keys"));
   NodePtr sides = p.join(JoinKind::Inner, {p.a});
   std::swap(Plans::hashed(sides).keys[0].probe, Plans::hashed(sides).keys[0].build);
   CATCH_CHECK(p.refuses(std::move(sides), "is made below"));
   NodePtr aware = p.join(JoinKind::Inner, {p.a});
   Plans::hashed(aware).nullAware = true;
   CATCH_CHECK(p.refuses(std::move(aware), "heed NULL keys"));
   NodePtr residual = p.join(JoinKind::Anti, {p.a});
   Plans::hashed(residual).nullAware = true;
   Plans::hashed(residual).predicates.push_back(makeCompare(CompareOp::Lt, p.ref(p.a), p.ref(p.b)));
   CATCH_CHECK(p.refuses(std::move(residual), "one key and nothing else"));
   NodePtr wide = p.join(JoinKind::Inner, {p.a});
   Plans::hashed(wide).keys[0].build = convert(p.ref(p.b), {PhysicalType::I64, 0});
   CATCH_CHECK(p.refuses(std::move(wide), "keys have one representation"));
   NodePtr same = p.join(JoinKind::Inner, {p.a});
   same->children[1] = Plans::scan({p.a});
   CATCH_CHECK(p.refuses(std::move(same), "from one side of a join"));
}

CATCH_TEST_CASE("representations fit wherever values meet") {
   Plans p;
   const Representation decimal{PhysicalType::Decimal, 0}, wide{PhysicalType::I128, 2};
   CATCH_CHECK(p.refuses(makeColumn(p.m, numeric), "a reference has its column's representation"));
   CATCH_CHECK(p.refuses(convert(p.ref(p.m), p.ref(p.m)->repr), "changes the representation"));
   CATCH_CHECK(p.refuses(convert(p.ref(p.a), {PhysicalType::String, 0}), "a conversion gives a number"));
   CATCH_CHECK(
       p.refuses(makeCompare(CompareOp::Eq, p.ref(p.m), convert(p.ref(p.m), wide)), "compared has one representation"));
   ExprPtr sum = call("numeric_add", numeric, two(p.ref(p.m), convert(p.ref(p.m), wide)));
   sum->repr = wide;
   CATCH_CHECK(p.refuses(std::move(sum), "the representation of its arguments"));
   ExprPtr product = call("numeric_mul", numeric, two(p.ref(p.m), p.ref(p.m)));
   product->repr = {PhysicalType::I64, 3};
   CATCH_CHECK(p.refuses(clone(*product), "the sum of its factors'"));
   product->repr = {PhysicalType::I64, 4};
   product->args[0] = convert(std::move(product->args[0]), wide);
   CATCH_CHECK(p.refuses(clone(*product), "as wide as its left factor"));
   std::swap(product->args[0], product->args[1]);
   CATCH_CHECK(p.refuses(std::move(product), "as wide as its right factor"));
   ExprPtr mixed = call("numeric_mul", numeric, two(p.ref(p.m), p.ref(p.m)));
   mixed->repr = {PhysicalType::Decimal, 4};
   CATCH_CHECK(p.refuses(std::move(mixed), "scaled as its factors are"));
   CATCH_CHECK(p.refuses(call("numeric_div", numeric, two(p.ref(p.m), p.ref(p.m))), "numeric as Decimal"));
   ExprPtr other = call("numeric_div", numeric, two(convert(p.ref(p.m), decimal), convert(p.ref(p.m), decimal)));
   other->repr = wide;
   CATCH_CHECK(p.refuses(std::move(other), "gives what is stored"));
   auto coalesce = std::make_unique<Expr>(ExprKind::Coalesce, numeric);
   coalesce->args.push_back(p.ref(p.m));
   CATCH_CHECK(p.refuses(std::move(coalesce), "the result's representation"));
   auto relabel = std::make_unique<Expr>(ExprKind::Relabel, money);
   relabel->args.push_back(convert(p.ref(p.m), decimal));
   CATCH_CHECK(p.refuses(std::move(relabel), "leaves the representation"));
   ExprPtr subquery = std::make_unique<Expr>(ExprKind::Subquery, int4);
   subquery->as<scalar::Subquery>().query = std::make_unique<Rel>(RelKind::Values);
   CATCH_CHECK(p.refuses(std::move(subquery), "subqueries have become joins"));
   ExprPtr flag = makeBoolean(true);
   auto negation = std::make_unique<Expr>(ExprKind::Not, boolean);
   flag->repr = {PhysicalType::I16, 0};
   flag->as<scalar::Constant>().value.type = PhysicalType::I16;
   negation->args.push_back(std::move(flag));
   CATCH_CHECK(p.refuses(std::move(negation), "a boolean is represented as one"));
   NodePtr project = Plans::over(Plans::computing(p.c, p.ref(p.a)), Plans::scan({p.a}), {p.c});
   CATCH_CHECK(p.refuses(std::move(project), "its expression's representation"));
}

CATCH_TEST_CASE("aggregates give what their kernel gives") {
   Plans p;
   NodePtr group = Plans::over(plan::Aggregate{}, Plans::scan({p.m}), {p.a});
   AggregateCall& call = group->as<plan::Aggregate>().aggregates.emplace_back();
   const Oid type = oid::numeric;
   call.function = catalog::builtins().findFunction("sum", std::span(&type, 1));
   call.type = numeric;
   call.column = p.a;
   call.args.push_back(p.ref(p.m));
   CATCH_CHECK(p.refuses(std::move(group), "as its kernel gives it"));
   NodePtr sets = Plans::over(plan::Aggregate{}, Plans::scan({p.m}), {});
   sets->as<plan::Aggregate>().groupingSets = {{1}};
   CATCH_CHECK(p.refuses(std::move(sets), "a grouping set names keys"));
   NodePtr grouping = Plans::over(plan::Aggregate{}, Plans::scan({p.m}), {});
   grouping->as<plan::Aggregate>().groupingCalls.push_back({p.c, {}});
   CATCH_CHECK(p.refuses(std::move(grouping), "GROUPING is integer"));
}

CATCH_TEST_CASE("sorts and limits are as the executor takes them") {
   Plans p;
   const auto sort = [&](auto op) {
      op.keys.push_back({p.ref(p.a)});
      return Plans::over(std::move(op), Plans::scan({p.a}), {p.a});
   };
   CATCH_CHECK(p.refusal(sort(plan::Sort{})).empty());
   NodePtr twice = sort(plan::Sort{});
   twice->as<plan::Sort>().keys.push_back({p.ref(p.a)});
   CATCH_CHECK(p.refuses(std::move(twice), "a sort's key stands once"));
   NodePtr expression = sort(plan::Sort{});
   expression->as<plan::Sort>().keys[0].expr = convert(p.ref(p.a), {PhysicalType::I64, 0});
   CATCH_CHECK(p.refuses(std::move(expression), "a sort's keys are columns"));
   CATCH_CHECK(p.refuses(Plans::over(plan::Sort{}, Plans::scan({p.a}), {p.a}), "a sort has keys"));
   CATCH_CHECK(p.refuses(sort(plan::TopN{}), "knows its limit"));
   NodePtr limit = Plans::over(plan::Limit{}, Plans::scan({p.a}), {p.a});
   limit->as<plan::Limit>().limit = makeConstant(int4, Value::integer(PhysicalType::I32, 1));
   CATCH_CHECK(p.refuses(std::move(limit), "LIMIT and OFFSET are bigint"));
   NodePtr reads = Plans::over(plan::Limit{}, Plans::scan({p.c}), {p.c});
   reads->as<plan::Limit>().limit = p.ref(p.c);
   CATCH_CHECK(p.refuses(std::move(reads), "is made below"));
   CATCH_CHECK(p.refuses(Plans::over(plan::Window{}, Plans::scan({p.a}), {p.a}), "computes something"));
}

CATCH_TEST_CASE("appends are fed in their representation") {
   Plans p;
   const ColumnId out = p.add("out");
   const auto append = [&](ColumnId from, ColumnId fed) {
      return Plans::over(plan::Append{{{fed}}}, Plans::scan({from}), {out});
   };
   CATCH_CHECK(p.refusal(append(p.a, p.a)).empty());
   CATCH_CHECK(p.refuses(append(p.a, p.b), "is made below"));
   CATCH_CHECK(p.refuses(append(p.c, p.c), "in their representation"));
   NodePtr none = append(p.a, p.a);
   none->as<plan::Append>().inputs.clear();
   CATCH_CHECK(p.refuses(std::move(none), "each child of an append feeds"));
   NodePtr few = append(p.a, p.a);
   few->as<plan::Append>().inputs[0].clear();
   CATCH_CHECK(p.refuses(std::move(few), "feeds every column"));
   NodePtr values = Plans::node(plan::Values{}, {p.a});
   values->as<plan::Values>().rows.emplace_back();
   CATCH_CHECK(p.refuses(std::move(values), "a value for each column"));
   NodePtr wide = Plans::node(plan::Values{}, {p.a});
   wide->as<plan::Values>().rows.emplace_back().push_back(bigNumber(1));
   CATCH_CHECK(p.refuses(std::move(wide), "a value has its column's representation"));
}

CATCH_TEST_CASE("CTEs are materialised before their scans") {
   Plans p;
   const ColumnId x = p.add("x");
   const auto scanOf = [&](uint32_t cte, ColumnId column) { return Plans::node(plan::CteScan{cte, {column}}, {x}); };
   const auto with = [&](NodePtr body) {
      NodePtr node = Plans::over(plan::Materialize{}, std::move(body), {x});
      node->as<plan::Materialize>().ctes.push_back({1, "cte", Plans::scan({p.a}), {p.a}});
      return node;
   };
   CATCH_CHECK(p.refusal(with(scanOf(1, p.a))).empty());
   CATCH_CHECK(p.refuses(with(scanOf(2, p.a)), "materialised before it is scanned"));
   CATCH_CHECK(p.refuses(with(scanOf(1, p.b)), "is made below"));
   p.plan.columns[x].repr = {PhysicalType::I64, 0};
   CATCH_CHECK(p.refuses(with(scanOf(1, p.a)), "has the CTE's representation"));
   NodePtr working = Plans::node(plan::RecursiveScan{}, {x});
   CATCH_CHECK(p.refuses(std::move(working), "inside its recursion"));
}

CATCH_TEST_CASE("runtime filters and key lookups have one join and a scan below it") {
   Plans p;
   const auto filtered = [&](uint32_t published, uint32_t used, size_t side) {
      NodePtr join = p.join(JoinKind::Inner, {p.a, p.b});
      Plans::hashed(join).runtimeFilterSources.push_back({published, 0});
      join->children[side]->as<plan::TableScan>().runtimeFilters.push_back({used, side == 0 ? p.a : p.b});
      return join;
   };
   p.plan.runtimeFilterCount = 1;
   CATCH_CHECK(p.refusal(filtered(0, 0, 0)).empty());
   CATCH_CHECK(p.refuses(filtered(0, 0, 1), "used by a scan of the probe side"));
   CATCH_CHECK(p.refuses(filtered(0, 1, 0), "one of the plan's"));
   CATCH_CHECK(p.refuses(p.join(JoinKind::Inner, {p.a}), "that is counted is published"));
   NodePtr twice = filtered(0, 0, 0);
   Plans::hashed(twice).runtimeFilterSources.push_back({0, 0});
   CATCH_CHECK(p.refuses(std::move(twice), "published by one join"));
   NodePtr key = filtered(0, 0, 0);
   Plans::hashed(key).runtimeFilterSources[0].key = 1;
   CATCH_CHECK(p.refuses(std::move(key), "is of a join key"));
   NodePtr nulls = filtered(0, 0, 0);
   Plans::hashed(nulls).keys[0].nullsEqual = true;
   CATCH_CHECK(p.refuses(std::move(nulls), "drops NULLs"));
   p.plan.runtimeFilterCount = 0;
   const auto lookup = [&](uint32_t published, uint32_t used) {
      NodePtr join = p.join(JoinKind::Inner, {p.a, p.b});
      Plans::hashed(join).keyLookup = published;
      if (published) Plans::hashed(join).keyLookupKeys = {0};
      auto& scan = join->children[0]->as<plan::TableScan>();
      scan.keyLookup = used;
      scan.keyLookupAttributes = {1};
      return join;
   };
   CATCH_CHECK(p.refusal(lookup(1, 1)).empty());
   CATCH_CHECK(p.refuses(lookup(1, 2), "used by a scan of the probe side"));
   CATCH_CHECK(p.refuses(lookup(0, 1), "that a scan waits for is published"));
   NodePtr more = lookup(1, 1);
   Plans::hashed(more).keyLookupKeys = {0, 0};
   CATCH_CHECK(p.refuses(std::move(more), "for each attribute"));
   NodePtr none = lookup(1, 1);
   Plans::hashed(none).keyLookupKeys.clear();
   CATCH_CHECK(p.refuses(std::move(none), "a key lookup has keys"));
   NodePtr both = lookup(1, 1);
   both->children[0]->as<plan::TableScan>().lookupAttributes = {1};
   CATCH_CHECK(p.refuses(std::move(both), "looked up in one way"));
}

CATCH_TEST_CASE("what is written is represented as it is stored") {
   Plans p;
   const auto insert = [&](ColumnId column) {
      auto dml = std::make_unique<Dml>();
      dml->target = {{column, 1}};
      return Plans::over(plan::Insert{{std::move(dml)}}, Plans::scan({p.a}), {});
   };
   CATCH_CHECK(p.refusal(insert(p.a)).empty());
   CATCH_CHECK(p.refuses(insert(p.b), "is made below"));
   NodePtr converted = insert(p.a);
   NodePtr project = Plans::over(Plans::computing(p.b, convert(p.ref(p.a), {PhysicalType::I64, 0})),
                                 std::move(converted->children[0]), {p.b});
   p.plan.columns[p.b].repr = {PhysicalType::I64, 0};
   converted->children[0] = std::move(project);
   converted->as<plan::Write>().dml->target = {{p.b, 1}};
   CATCH_CHECK(p.refuses(std::move(converted), "as it is stored"));
   NodePtr remove = Plans::over(plan::Delete{{std::make_unique<Dml>()}}, Plans::scan({p.a}), {});
   CATCH_CHECK(p.refuses(std::move(remove), "know the row"));
   CATCH_CHECK(p.refuses(Plans::over(plan::Merge{}, Plans::scan({p.a}), {}), "say what they write"));
}
