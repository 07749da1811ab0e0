#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catalog/builtin/builtin.hpp"
#include "catalog/object/objects.hpp"
#include "sql/bind/type/type_rules.hpp"

// A query in which every name and type is resolved, and which still has the shape of the text: what PostgreSQL calls an
// analysed query tree. The algebra of sql/algebra is of no use here, for it has forgotten how the query was written.

namespace ouzel::sql::deparse {

struct Query;
struct Source;
struct Term;
using TermPtr = std::shared_ptr<Term>; ///< shared where one text stands for two places: BETWEEN, ORDER BY 1

enum class TermKind : uint8_t {
   Column,    ///< of `source`; number < 0: the whole row
   Constant,  ///< `name` is its text
   Parameter, ///< $`number`, or `name` of the function that the text is of
   Call,      ///< `function`; also in SQL's own syntax
   Cast,      ///< see Term::form
   Operator,  ///< `name`; one argument: a prefix operator
   AnyArray,  ///< `name` ANY or ALL (isNegated) of an array
   Distinct,  ///< IS DISTINCT FROM
   NullIf,
   And,
   Or,
   Not,
   NullTest, ///< isNegated: IS NOT NULL
   BoolTest, ///< `name`: "IS TRUE", ...
   Collate,  ///< `name`, as SQL needs it
   Case,     ///< arguments: the tested value or null, pairs of WHEN and THEN, ELSE
   Tested,   ///< the tested value in the conditions of a Case
   Array,
   Row,
   RowCompare, ///< `name`; arguments: a Row and a Row
   Coalesce,
   Greatest,
   Least,
   SqlValue, ///< `name`: CURRENT_DATE, ...
   Subquery, ///< `query`, see Term::link
   Aggregate,
   Window,
   Grouping,
   Field,     ///< .`name`
   Subscript, ///< the container, then pairs of a lower bound or null and an upper bound or null
   NamedArg,  ///< `name` => argument
   Xml,       ///< `number` is an XmlExprOp, see Term::argNames; isNegated: DOCUMENT, not CONTENT
   IsDocument,
   Default,
};

/// How a cast or a call is shown.
enum class Form : uint8_t { Call, Explicit, Implicit, Syntax };

enum class Link : uint8_t { Exists, Any, All, RowCompare, Value, Array, Several };

struct SortItem {
   TermPtr term;
   int32_t target = 0; ///< the number of the output column that it is, from 1; 0: none
   enum class Order : uint8_t { Ascending, Descending, Operator } order = Order::Ascending;
   std::string usingOperator;
   bool nullsFirst = false;
};

struct WindowSpec {
   std::string name;   ///< of WINDOW name AS
   std::string refers; ///< to another window, which it begins with
   bool copiesOrder = false;
   std::vector<TermPtr> partition;
   std::vector<SortItem> order;
   int32_t frame = 0; ///< PostgreSQL's frame options
   TermPtr start, end;
};

struct Term {
   TermKind kind = TermKind::Constant;
   SqlType type;
   std::vector<TermPtr> args;
   std::string name;
   bool isNegated = false;
   bool isNull = false;                             ///< of a Constant
   Form form = Form::Call;                          ///< of Call, Cast, and a Row that is cast
   bool isFunction = false;                         ///< of a Cast: a function does it, which binds as tightly as a call
   CoercionPath path = CoercionPath::Relabel;       ///< of a Cast that no function does
   const catalog::FunctionInfo* function = nullptr; ///< Call, Aggregate, Window
   Source* source = nullptr;                        ///< Column
   int32_t number = 0;                              ///< Column, Parameter
   // Calls of aggregates and window functions.
   bool isDistinct = false, isStar = false, isVariadic = false, isOrderedSet = false;
   std::vector<SortItem> order;
   TermPtr filter;
   std::shared_ptr<WindowSpec> window;
   // XMLELEMENT(NAME name, XMLATTRIBUTES(value AS name, ...), ...) and its kin.
   std::vector<std::string> argNames; ///< the NAME, if it has one, then those of its first arguments
   SqlType serialized;                ///< XMLSERIALIZE(... AS type)
   // Subqueries.
   Link link = Link::Value;
   std::shared_ptr<Query> query;
};

/// An output column: of a select list, of RETURNING, or the column that an INSERT or UPDATE writes.
struct Target {
   TermPtr term;
   std::string name;
   bool isHidden = false; ///< added for ORDER BY, GROUP BY, ...
   bool hasName = false;  ///< the text says AS
};

struct SourceColumn {
   std::string name;
   SqlType type;
   int16_t attribute = 0; ///< of a relation
};

struct FunctionSource {
   TermPtr call;
   std::vector<SourceColumn> definitions; ///< of a column definition list
   bool isUnnest = false;
};

/// XMLTABLE(...). Its columns have the names and types of Source::columns.
struct XmlTableSource {
   struct Column {
      bool isOrdinality = false, isNotNull = false;
      TermPtr path, byDefault; ///< may be null
   };
   std::vector<std::pair<std::string, TermPtr>> namespaces; ///< without a name: the default one
   TermPtr rows, document;
   std::vector<Column> columns;
};

enum class SourceKind : uint8_t { Relation, Subquery, Function, XmlTable, Values, Cte, Join, Row };

struct JoinTree;

/// What a name in FROM stands for: an entry of PostgreSQL's range table.
struct Source {
   SourceKind kind = SourceKind::Relation;
   std::string alias;                      ///< empty: the user gave none
   std::string name;                       ///< that it has without an alias
   std::vector<std::string> columnAliases; ///< that the user gave
   std::vector<SourceColumn> columns;      ///< under their own names
   bool isLateral = false, isOnly = false;
   catalog::RelationPtr relation;
   std::shared_ptr<Query> query;
   std::vector<FunctionSource> functions;
   bool hasOrdinality = false;
   std::shared_ptr<XmlTableSource> xmlTable;
   std::vector<std::vector<TermPtr>> values;
   std::string sampleMethod;
   std::vector<TermPtr> sampleArgs;
   TermPtr sampleSeed;
   // Of a join, for each of its columns.
   std::vector<TermPtr> joined;              ///< the column of an input that it is; null: it is made of both
   std::vector<int32_t> fromLeft, fromRight; ///< the numbers of the columns of its inputs that it is made of, or -1

   // Names that the writer chooses.
   std::string shownName;
   std::vector<std::string> shownColumns;
   bool showsColumns = false;
   std::vector<std::string> takenNames; ///< by USING of the joins around it

   /// The name of a column in the query's text.
   const std::string& columnName(size_t i) const {
      return i < columnAliases.size() ? columnAliases[i] : columns[i].name;
   }
};

/// FROM: a source, or a join of two trees.
struct JoinTree {
   Source* source = nullptr; ///< of a leaf, and of a join its own entry
   std::unique_ptr<JoinTree> left, right;
   char kind = 'i'; ///< i inner, l left, r right, f full
   std::vector<std::string> usingColumns;
   std::string usingAlias;
   TermPtr condition;
   bool isJoin() const { return left != nullptr; }
};

struct Cte {
   std::string name;
   std::vector<std::string> columnAliases;
   std::vector<SourceColumn> columns;
   int materialized = 0; ///< 0 not said, 1 MATERIALIZED, 2 NOT MATERIALIZED
   std::shared_ptr<Query> query;
   std::string suffix, path;        ///< SEARCH and CYCLE
   std::vector<SourceColumn> added; ///< by SEARCH and CYCLE
   std::vector<TermPtr> marks;      ///< of CYCLE, if they are not true and false
};

struct SetTree {
   std::shared_ptr<Query> leaf;
   std::unique_ptr<SetTree> left, right;
   char kind = 'u'; ///< u union, i intersect, e except
   bool all = false;
   std::vector<SqlType> types;
};

struct GroupingItem {
   enum class Kind : uint8_t { Empty, Simple, Rollup, Cube, Sets } kind = Kind::Simple;
   std::vector<TermPtr> terms;
   std::vector<GroupingItem> items;
};

struct RowLock {
   std::string strength;
   Source* source = nullptr;
   std::string wait;
};

/// A column that an INSERT or UPDATE writes; the value of an UPDATE.
struct Written {
   std::string name;
   TermPtr value;
};

enum class Command : uint8_t { Select, Insert, Update, Delete };

struct Query {
   Command command = Command::Select;
   std::vector<std::unique_ptr<Source>> sources; ///< in PostgreSQL's order, which decides who keeps a name
   std::vector<std::unique_ptr<JoinTree>> from;
   std::vector<std::unique_ptr<Cte>> ctes;
   bool isRecursive = false;
   std::vector<Target> targets;
   bool isDistinct = false;
   std::vector<TermPtr> distinctOn;
   TermPtr where, having;
   std::vector<TermPtr> groupBy;
   std::vector<GroupingItem> groupingSets;
   bool groupsDistinct = false;
   std::vector<std::shared_ptr<WindowSpec>> windows;
   std::vector<SortItem> order;
   TermPtr limit, offset;
   bool withTies = false, limitAll = false;
   std::vector<RowLock> locks;
   std::unique_ptr<SetTree> setTree;
   bool isValues = false; ///< VALUES and nothing else
   // Commands that write.
   Source* target = nullptr;
   std::vector<Written> written;
   std::vector<std::vector<TermPtr>> rows; ///< of VALUES
   std::shared_ptr<Query> selectSource;    ///< of INSERT ... SELECT
   std::string overriding;
   std::vector<Target> returning;
};

} // namespace ouzel::sql::deparse
