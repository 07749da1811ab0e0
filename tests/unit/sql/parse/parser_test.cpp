#include "sql/parse/parser.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"
#include "sql/parse/node_access.hpp"

using namespace ouzel;
using namespace ouzel::sql;

namespace {

SqlError errorOf(const std::string& sql) {
   try {
      ParsedScript::parse(sql);
   } catch (SqlError& error) {
      return error;
   }
   return SqlError(sqlstate::successfulCompletion, "no error");
}

std::string repeat(std::string_view text, uint32_t times) {
   std::string result;
   for (uint32_t i = 0; i < times; ++i)
      result += text;
   return result;
}

} // namespace

// The structs are from PostgreSQL's headers and the tree from libpg_query: both must use the same numbers for node
// tags.
CATCH_TEST_CASE("node tags of the library and of the headers agree", "[parse]") {
   const struct {
      const char* sql;
      NodeTag tag;
   } statements[] = {
       {"select 1", T_SelectStmt},
       {"insert into t values (1)", T_InsertStmt},
       {"update t set a = 1", T_UpdateStmt},
       {"delete from t", T_DeleteStmt},
       {"create table t (a int)", T_CreateStmt},
       {"create view v as select 1", T_ViewStmt},
       {"drop table t", T_DropStmt},
       {"alter table t add b int", T_AlterTableStmt},
       {"copy t from stdin", T_CopyStmt},
       {"begin", T_TransactionStmt},
       {"explain select 1", T_ExplainStmt},
       {"set x = 1", T_VariableSetStmt},
       {"show x", T_VariableShowStmt},
       {"vacuum", T_VacuumStmt},
       {"checkpoint", T_CheckPointStmt},
       {"prepare p as select 1", T_PrepareStmt},
   };
   for (const auto& statement : statements) {
      const auto script = ParsedScript::parse(statement.sql);
      CATCH_REQUIRE(script.statements().size() == 1);
      CATCH_CHECK(script.statements()[0].node->type == statement.tag);
   }
   const struct {
      const char* sql;
      NodeTag tag;
   } expressions[] = {
       {"a", T_ColumnRef},
       {"1", T_A_Const},
       {"$1", T_ParamRef},
       {"a + 1", T_A_Expr},
       {"f(x)", T_FuncCall},
       {"a and b", T_BoolExpr},
       {"a is null", T_NullTest},
       {"a is true", T_BooleanTest},
       {"case when a then 1 end", T_CaseExpr},
       {"coalesce(a, b)", T_CoalesceExpr},
       {"a::int", T_TypeCast},
       {"exists (select 1)", T_SubLink},
       {"array[1]", T_A_ArrayExpr},
       {"a[1]", T_A_Indirection},
       {"row(1, 2)", T_RowExpr},
       {"greatest(a, b)", T_MinMaxExpr},
       {"current_date", T_SQLValueFunction},
       {"a collate \"C\"", T_CollateClause},
   };
   for (const auto& expression : expressions) {
      const auto script = ParsedScript::parseExpression(expression.sql);
      CATCH_CHECK(script.expression()->type == expression.tag);
   }
}

CATCH_TEST_CASE("a script knows the text of its statements", "[parse]") {
   const auto script = ParsedScript::parse(" select 1 ; ; select 'ä' -- end\n;select 3");
   CATCH_REQUIRE(script.statements().size() == 3);
   CATCH_CHECK(script.statements()[0].text == "select 1");
   CATCH_CHECK(script.statements()[0].offset == 1);
   CATCH_CHECK(script.statements()[1].text == "select 'ä' -- end");
   CATCH_CHECK(script.statements()[2].text == "select 3");
   CATCH_CHECK(ParsedScript::parse("").statements().empty());
   CATCH_CHECK(ParsedScript::parse(" ;; -- nothing").statements().empty());
}

CATCH_TEST_CASE("parse errors have SQLSTATE and a position in characters", "[parse]") {
   auto error = errorOf("select 'ä' from from");
   CATCH_CHECK(error.state() == sqlstate::syntaxError);
   CATCH_CHECK(std::string(error.what()) == "syntax error at or near \"from\"");
   CATCH_CHECK(error.position() == 17);
   CATCH_CHECK(errorOf("select \xff").state() == sqlstate::characterNotInRepertoire);
   CATCH_CHECK(errorOf("select 1::float(0)").state() == sqlstate::invalidParameterValue);
   CATCH_CHECK(errorOf("select sum(a) over (rows between unbounded following and current row)").state() ==
               sqlstate::windowingError);
   CATCH_CHECK(errorOf("select 'abc").position() == 8);
   CATCH_CHECK(SourceText("sélect x").position(8) == 8);
}

CATCH_TEST_CASE("depth is an error, length is not", "[parse]") {
   CATCH_CHECK(errorOf("select " + repeat("(", 100'000) + "1" + repeat(")", 100'000)).state() !=
               sqlstate::successfulCompletion);
   CATCH_CHECK(errorOf("select " + repeat("not ", 100'000) + "true").state() != sqlstate::successfulCompletion);
   CATCH_CHECK(ParsedScript::parse("select 1" + repeat("+1", 100'000)).statements().size() == 1);
}

CATCH_TEST_CASE("scripts nest, move and live on several threads", "[parse]") {
   auto outer = ParsedScript::parse("select 1");
   {
      auto inner = ParsedScript::parse("select 2");
      auto failed = errorOf("selec");
      CATCH_CHECK(failed.position() == 1);
      auto moved = std::move(inner);
      CATCH_CHECK(isNode(moved.statements()[0].node, T_SelectStmt));
   }
   CATCH_CHECK(isNode(outer.statements()[0].node, T_SelectStmt));
   std::vector<std::thread> threads;
   for (int t = 0; t < 4; ++t)
      threads.emplace_back([] {
         for (int i = 0; i < 200; ++i) {
            ParsedScript::parse("select a, b from t where c = 'x' order by 1");
            errorOf("select select");
         }
      });
   for (auto& thread : threads)
      thread.join();
}

CATCH_TEST_CASE("a script outlives the thread that has parsed it", "[parse]") {
   std::optional<ParsedScript> kept;
   std::thread([&] { kept.emplace(ParsedScript::parse("SELECT a FROM t WHERE b > 1")); }).join();
   std::thread([&] {
      const auto other = ParsedScript::parse("SELECT 1");
      CATCH_CHECK(other.statements().size() == 1);
      CATCH_CHECK(as<SelectStmt>(kept->statements()[0].node)->whereClause != nullptr);
      kept.reset();
      CATCH_CHECK(ParsedScript::parse("SELECT 2").statements().size() == 1);
   }).join();
}

CATCH_TEST_CASE("the parse of a long text is interrupted", "[parse]") {
   const std::string list = "select 1 in (0" + repeat(", 7", 200'000) + ")";
   int calls = 0;
   const std::function<void()> check = [&] {
      if (++calls == 3) throw SqlError(sqlstate::queryCanceled, "cancelled");
   };
   const Interruptible interruptible(check);
   CATCH_CHECK(errorOf(list).state() == sqlstate::queryCanceled);
   CATCH_CHECK(calls == 3);
   CATCH_CHECK(ParsedScript::parse(list).statements().size() == 1); // nothing is left behind
   CATCH_CHECK(errorOf(list + "x y").state() == sqlstate::syntaxError);
}
