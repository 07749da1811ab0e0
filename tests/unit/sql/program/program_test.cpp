#include <catch2/catch.hpp>
#include <random>

#include "sql/program/catalog_types.hpp"
#include "sql/program/conditions.hpp"
#include "tests/unit/sql/bind/test_catalog.hpp"
#include "tests/unit/sql/program/program_support.hpp"

using namespace ouzel;
using namespace ouzel::sql;
using namespace ouzel::sql::program;

namespace {

TestCatalog makeCatalog() {
   TestCatalog catalog;
   catalog.run("create table t (a int, b text)");
   return catalog;
}

std::string described(const std::string& signature, const std::string& body) {
   const TestCatalog catalog = makeCatalog();
   const BindContext context = catalog.context(nullptr);
   return describe(parseDefinition("create " + signature + " language plpgsql as $body$" + body + "$body$", context));
}

std::string codeOfError(std::string_view name) {
   try {
      return std::string(conditionCode(name));
   } catch (const SqlError& error) {
      return errorText(error);
   }
}

} // namespace

CATCH_TEST_CASE("names of conditions stand for SQLSTATEs", "[program]") {
   CATCH_CHECK(codeOfError("division_by_zero") == "22012");
   CATCH_CHECK(codeOfError("string_data_right_truncation") == "22001"); // as a warning it is no condition
   CATCH_CHECK(codeOfError("modifying_sql_data_not_permitted") == "2F002");
   CATCH_CHECK(codeOfError("nosuch") == "ERROR 42704: unrecognized exception condition \"nosuch\"");
   CATCH_CHECK(conditionsNamed("modifying_sql_data_not_permitted").size() == 2);
   CATCH_CHECK(conditionsNamed("others") == std::vector<Condition>{{"others", ""}});
   CATCH_CHECK(conditionName("23505") == "unique_violation");
   CATCH_CHECK(conditionName("ZZZZZ").empty());
   CATCH_CHECK(conditionCodeOf("U1234") == "U1234");
   CATCH_CHECK(conditionCodeOf("raise_exception") == "P0001");
   CATCH_CHECK(isConditionCode("0A000"));
   CATCH_CHECK_FALSE(isConditionCode("0a000"));
}

CATCH_TEST_CASE("conditions catch their code, their class, or nearly all", "[program]") {
   CATCH_CHECK(catches({"division_by_zero", "22012"}, "22012"));
   CATCH_CHECK_FALSE(catches({"division_by_zero", "22012"}, "22003"));
   CATCH_CHECK(catches({"data_exception", "22000"}, "22012"));
   CATCH_CHECK_FALSE(catches({"data_exception", "22000"}, "23505"));
   CATCH_CHECK(catches({"others", ""}, "22012"));
   CATCH_CHECK_FALSE(catches({"others", ""}, "57014"));
   CATCH_CHECK_FALSE(catches({"others", ""}, "P0004"));
   CATCH_CHECK(catches({"assert_failure", "P0004"}, "P0004"));
}

CATCH_TEST_CASE("blocks, branches and loops", "[program]") {
   CATCH_CHECK(described("function f(a int, b text) returns int", R"(
<<outer>>
declare
   x constant int not null := 3;
   r record;
   c scroll cursor (p int) for select * from t where t.a = p;
begin
   if a > x then
      a := a + 1;
   elsif b = 'y' then
      return x;
   else
      exit outer;
   end if;
   case when a = 1 then null; end case;
   case a when 1, 2 then return 1; else null; end case;
   loop continue when found; end loop;
   while a < 10 loop a := a + 1; end loop;
   <<count>>
   for i in reverse 10..1 by 2 loop
      exit count when i = a;
   end loop;
   for r in select * from t loop end loop;
   for a, b in execute 'select $1' using x, 2 loop end loop;
   for r in c(x + 1) loop end loop;
   foreach a slice 1 in array array[1, 2] loop end loop;
   return a + 1;
exception
   when division_by_zero or sqlstate 'U0001' then
      raise;
   when others then
      return 0;
end outer;
)") == R"(  7 block <<outer>> x@4:23 constant not null {3} r@5:2249 p@6:23 c@6:1790 {'c'::pg_catalog.refcursor} cursor 1 (p,) {select * from t where t.a = p}
    8 if @8 {a > x}
      9 assign a := {a + 1} @10 {b = 'y'}
      11 return variable x
    0 else
      13 exit <<outer>>
    15 case @15 {a = 1} (no else)
    16 case {a} @16 {"__Case__Variable_8__" IN (1, 2)}
      16 return {1}
    17 loop
      17 continue {found}
    18 while {a < 10}
      18 assign a := {a + 1}
    20 for i reverse {10}..{1} {2} <<count>>
      21 exit <<count>> {i = a}
    23 for record r {select * from t}
    24 for a b execute {'select $1'} {x} {2}
    25 for r in cursor c {x + 1}
    26 foreach a 1 {array[1, 2]}
    27 return {a + 1}
    29 when division_by_zero=22012 U0001=U0001
      30 raise 5 again
    31 when others=
      32 return {0}
)");
}

CATCH_TEST_CASE("targets of assignments", "[program]") {
   CATCH_CHECK(described("function f(v t) returns void", R"(declare x int; arr int[]; r record; begin
x := 1; x = 2;
arr[x + 1] := 3;
arr[1][2:3][:] := null;
r.a := 1;
r.a.b[x].c := 2;
v.a := x;
f.v.a := x;
$1.b := 'y';
end)") == R"(  1 block x@1:23 arr@1:1007 r@1:2249
    2 assign x := {1}
    2 assign x := {2}
    3 assign arr [ {x + 1}] := {3}
    4 assign arr [ {1}] [ {2}: {3}] [:] := {null}
    5 assign r.a := {1}
    6 assign r.a .b [ {x}] .c := {2}
    7 assign v.a := {x}
    8 assign v.a := {x}
    9 assign v.b := {'y'}
)");
}

CATCH_TEST_CASE("texts end with their last token", "[program]") {
   CATCH_CHECK(described("function f() returns int", R"(declare x int := 1 /* a */; c cursor (p int) for select p -- b
; begin
x := 1 /* c */ ;
perform x -- d
;
select 1 /* e */ into x /* f */ from t /* g */ ;
open c(1 /* h */ );
return 1 -- i
; end)") == R"(  2 block x@1:23 {1} p@1:23 c@1:1790 {'c'::pg_catalog.refcursor} cursor 0 (p,) {select p}
    3 assign x := {1}
    4 perform {SELECT x}
    6 sql {select 1 /* e */                from t /* g */} into x 
    7 open c 0 {1}
    8 return {1}
)");
}

CATCH_TEST_CASE("statements of SQL", "[program]") {
   CATCH_CHECK(described("function f() returns void", R"(declare x int; y int; r record; begin
select a, b into strict x, y from t;
insert into t values (1) returning a into r.a;
create rule q as on insert to t do instead (delete from t; select 1);
perform f(x);
execute 'select 1';
execute 'select $1, $2' using x, y into strict r;
call p(x);
do $x$ begin end $x$;
get diagnostics x = row_count;
get stacked diagnostics r.a = message_text, r.b = pg_context;
assert x > 1, 'small';
commit; rollback and chain;
raise;
raise notice 'a % %%', x;
raise sqlstate 'U0001' using message = 'm', hint := x;
raise unique_violation;
return;
end)") == R"(  1 block x@1:23 y@1:23 r@1:2249
    2 sql {select a, b                  from t} strict into x y 
    3 sql {insert into t values (1) returning a} into r.a 
    4 sql {create rule q as on insert to t do instead (delete from t; select 1)}
    5 perform {SELECT f(x)}
    6 execute {'select 1'}
    7 execute {'select $1, $2'} strict into record r  {x} {y}
    8 call {call p(x)}
    9 do {do $x$ begin end $x$}
    10 get x=0
    11 get stacked r.a=9 r.b=1
    12 assert {x > 1} {'small'}
    13 commit
    13 rollback and chain
    14 raise 5 again
    15 raise 3 'a % %%' {x}
    16 raise 5U0001 1={'m'} 3={x}
    17 raise 5unique_violation
    18 return
)");
}

CATCH_TEST_CASE("cursors", "[program]") {
   CATCH_CHECK(
       described("function f() returns void",
                 R"(declare c refcursor; b cursor (p int, q text) for select p; r record; x int; begin
open c for select 1;
open c no scroll for execute 'select $1' using x;
open b(1, 'a');
open b(q := 'a', p := 1);
fetch c into x;
fetch prior from c into r;
fetch absolute x + 1 from c into x;
fetch last in c into x;
fetch relative -2 from c into x;
move forward all from c;
move backward 3 in c;
move c;
close c;
end)") ==
       R"(  1 block c@1:1790 p@1:23 q@1:25 b@1:1790 {'b'::pg_catalog.refcursor} cursor 0 (p,q,) {select p} r@1:2249 x@1:23
    2 open c 0 {select 1}
    3 open c 2 {'select $1'} {x}
    4 open b 0 {1, 'a'}
    5 open b 0 {1 AS p, 'a' AS q}
    6 fetch 0 1 from c into x 
    7 fetch 1 1 from c into record r 
    8 fetch 2 {x + 1} from c into x 
    9 fetch 2 -1 from c into x 
    10 fetch 3 {-2} from c into x 
    11 move 0 all from c
    12 move 1 {3} from c
    13 move 0 1 from c
    14 close c
)");
}

CATCH_TEST_CASE("what functions return", "[program]") {
   CATCH_CHECK(described("function f(out a int) returns setof int", "begin return next; return; end") ==
               "  1 block\n    1 return next variable a\n    1 return\n");
   CATCH_CHECK(described("function f() returns table(a int, b int)",
                         "begin return next; return query select 1, 2; return query execute 'x' using 1, 2; end") ==
               "  1 block\n    1 return next outputs\n    1 return query {select 1, 2}\n"
               "    1 return query {'x'} {1} {2}\n");
   CATCH_CHECK(described("function f(out a int, inout b int)", "begin return; end") ==
               "  1 block\n    1 return outputs\n");
   CATCH_CHECK(described("procedure f(inout a int)", "begin return; end") == "  1 block\n    1 return outputs\n");
   CATCH_CHECK(described("function f() returns trigger", "begin return new; end") ==
               "  1 block\n    1 return variable new\n");
   const TestCatalog catalog = makeCatalog();
   const auto parse = [&](const std::string& signature) {
      return parseDefinition("create " + signature + " language plpgsql as 'begin null; end'",
                             catalog.context(nullptr));
   };
   CATCH_CHECK_FALSE(parse("function f() returns int").mayReachEnd);
   CATCH_CHECK_FALSE(parse("function f() returns trigger").mayReachEnd);
   CATCH_CHECK(parse("function f() returns void").mayReachEnd);
   CATCH_CHECK(parse("function f() returns setof int").endResult.kind == ResultKind::Nothing);
   CATCH_CHECK(parse("function f(out a int)").endResult.kind == ResultKind::Variable);
   CATCH_CHECK(parse("procedure f(inout a int)").endResult.kind == ResultKind::OutputParameters);
}

CATCH_TEST_CASE("a text sees the variables that are declared where it stands", "[program]") {
   const TestCatalog catalog = makeCatalog();
   const Program program = parseDefinition(R"(create function f(x int) returns void language plpgsql as $body$
<<outer>>
declare y int := x; x text := y;
begin
   perform x;
   declare y record; begin perform y; end;
end $body$)",
                                           catalog.context(nullptr));
   const auto& block = std::get<Block>(program.block.node);
   const VariableId y = block.declared.at(0), x = block.declared.at(1), argument = program.inputs.at(0);
   const auto variable = [&](const SqlText& text, auto... parts) {
      const FoundName found = program.names.find(text.scope, parts...);
      return found.name ? found.name->variable : noVariable;
   };
   const SqlText& initialY = *program.variables[y].initial;
   const SqlText& initialX = *program.variables[x].initial;
   CATCH_CHECK(variable(initialY, "x") == argument);
   CATCH_CHECK(variable(initialY, "y") == noVariable);
   CATCH_CHECK(variable(initialX, "y") == y);
   CATCH_CHECK(variable(initialX, "x") == argument);
   const SqlText& outer = std::get<Perform>(block.body.at(0).node).query;
   CATCH_CHECK(variable(outer, "x") == x);
   CATCH_CHECK(variable(outer, "f", "x") == argument);
   CATCH_CHECK(variable(outer, "$1") == argument);
   CATCH_CHECK(variable(outer, "outer", "y") == y);
   CATCH_CHECK(variable(outer, "y", "z") == noVariable); // a scalar has no fields
   CATCH_CHECK(variable(outer, "found") == program.found);
   const auto& inner = std::get<Block>(block.body.at(1).node);
   const SqlText& nested = std::get<Perform>(inner.body.at(0).node).query;
   CATCH_CHECK(variable(nested, "y") == inner.declared.at(0));
   CATCH_CHECK(variable(nested, "y", "z") == inner.declared.at(0));
   CATCH_CHECK(program.names.find(nested.scope, "y", "z").parts == 1);
   CATCH_CHECK(program.names.find(nested.scope, "outer", "y").parts == 2);
   CATCH_CHECK(program.statementCount == 4);
   CATCH_CHECK(program.textCount == 4);
}

CATCH_TEST_CASE("a later compilation has a context and no syntax check of SQL", "[program]") {
   const TestCatalog catalog = makeCatalog();
   const BindContext context = catalog.context(nullptr);
   const CatalogTypes types(context);
   ProgramSource source;
   source.name = "f";
   source.isDefinition = source.checksSyntax = false;
   source.body = "begin\n perform 1 2;\n end";
   CATCH_CHECK(std::get<Block>(parseProgram(source, types).block.node).body.size() == 1);
   source.body = "begin\n exit;\n end";
   try {
      parseProgram(source, types);
      CATCH_FAIL();
   } catch (const SqlError& error) {
      CATCH_CHECK(error.position() == 0); // the client's text is another one
      CATCH_CHECK(error.internalPosition() == 8);
      CATCH_CHECK(error.internalQuery() == source.body);
      CATCH_CHECK(error.contextText() == "compilation of PL/pgSQL function \"f\" near line 2");
   }
}

CATCH_TEST_CASE("positions in a body are found in the statement", "[program]") {
   CATCH_CHECK(positionInStatement("do $$abc$$", "abc", 2) == 7);
   CATCH_CHECK(positionInStatement("do $x$äbc$x$", "äbc", 2) == 8);
   CATCH_CHECK(positionInStatement("do 'a''bc'", "a'bc", 3) == 8);
   CATCH_CHECK(positionInStatement("do 'a''bc'", "a'bc", 5) == 10); // behind the last
   CATCH_CHECK(positionInStatement("do 'x'", "abc", 1) == 0);
   CATCH_CHECK(positionInStatement("select 'abc', 'abc'", "abc", 1) == 0);
}

// Whatever the text is: an answer or an SqlError, and soon.
CATCH_TEST_CASE("random bodies are parsed or refused", "[program]") {
   const TestCatalog catalog = makeCatalog();
   const BindContext context = catalog.context(nullptr);
   const CatalogTypes types(context);
   constexpr std::string_view words[] = {
       "declare",    "begin",   "end",      "if",       "then",        "else",
       "elsif",      "loop",    "while",    "for",      "foreach",     "in",
       "array",      "slice",   "reverse",  "1..2",     "..",          "by",
       "case",       "when",    "exit",     "continue", "<<",          ">>",
       "l",          "x",       "r",        "r.a",      "c",           "nosuch",
       "x[1]",       "return",  "next",     "query",    "execute",     "using",
       "into",       "strict",  "raise",    "notice",   "'a %'",       ",",
       "=",          ":=",      ";",        "(",        ")",           "[",
       "]",          "perform", "select 1", "insert",   "open",        "fetch",
       "from",       "close",   "get",      "stacked",  "diagnostics", "row_count",
       "exception",  "others",  "sqlstate", "'22012'",  "null",        "not",
       "constant",   "int",     "record",   "cursor",   "refcursor",   "%type",
       "%rowtype",   "t",       "alias",    "$1",       "#",           "variable_conflict",
       "use_column", "--",      "/*",       "'",        "$$",          "\"",
       "1a",         "E'\\u'",  "\n",       "\xc3\xa4"};
   const uint64_t seed = 20;
   std::mt19937_64 random(seed);
   size_t accepted = 0;
   for (int i = 0; i < 20'000; ++i) {
      CATCH_INFO("seed " << seed << ", body " << i);
      std::string body = random() % 2 ? "declare x int; r record; c refcursor; begin " : "";
      for (uint64_t left = random() % 20; left > 0; --left)
         body += std::string(words[random() % std::size(words)]) + (random() % 4 ? " " : "; ");
      if (random() % 2) body += " end";
      ProgramSource source;
      source.name = "f";
      source.body = body;
      source.returnsSet = random() % 2;
      source.kind = random() % 3 ? ProgramKind::Function : ProgramKind::Trigger;
      try {
         parseProgram(source, types);
         ++accepted;
      } catch (const SqlError& error) {
         CATCH_CHECK(error.state() != sqlstate::internalError);
      }
   }
   CATCH_CHECK(accepted > 0);
}

CATCH_TEST_CASE("deep nesting is refused", "[program]") {
   const TestCatalog catalog = makeCatalog();
   const BindContext context = catalog.context(nullptr);
   const CatalogTypes types(context);
   std::string body;
   for (int i = 0; i < 100'000; ++i)
      body += "begin ";
   ProgramSource source;
   source.name = "f";
   source.body = body;
   try {
      parseProgram(source, types);
      CATCH_FAIL();
   } catch (const SqlError& error) {
      CATCH_CHECK(error.state() == sqlstate::statementTooComplex);
   }
}
