#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/object/search_path.hpp"
#include "catalog/object/snapshot.hpp"
#include "common/type/session_format.hpp"
#include "sql/algebra/rel.hpp"
#include "sql/parse/parser.hpp"

struct FuncCall;

namespace ouzel::catalog {
struct Function;
struct Relation;
} // namespace ouzel::catalog
namespace ouzel::io {
struct ExternalRequest;
}

namespace ouzel::sql {

struct PartTarget;     // sql/bind/state/variable_names.hpp
class ProgramCompiler; // sql/bind/state/program_compiler.hpp
class VariableNames;   // sql/bind/state/variable_names.hpp

/// Opens the files that `function` (read_csv, read_json, read_parquet) names as one table.
using OpenExternal = std::function<std::shared_ptr<const io::ExternalTable>(std::string_view function,
                                                                            const io::ExternalRequest& request)>;

/// Opens the table of another server that a foreign table names, with the user mapping of a role (invalidOid: the
/// current role). Null: its wrapper has no code that reads.
using OpenForeign =
    std::function<std::shared_ptr<const io::ExternalTable>(const catalog::Relation& relation, Oid role)>;

/// What a CALL calls, and what that gives. The query that is bound in its place gives the arguments as one record.
struct CalledProcedure {
   Oid procedure = invalidOid;
   std::vector<std::pair<std::string, SqlType>> columns{}; ///< of the row that it gives; empty: it gives none
};

/// The row on which a cursor is.
struct CursorPlace {
   Oid table = invalidOid; ///< where it lies: the table that is asked for, or a part of it
   int64_t row = 0;        ///< its id
};
/// Finds the row of a cursor for WHERE CURRENT OF. Throws 34000 and 24000 if it has none of the table.
using FindCursorPlace = std::function<CursorPlace(const std::string& cursor, const catalog::Relation& table)>;

/// Inputs of binding other than the tree: catalog snapshot, search path, session settings, types of parameters. The
/// caller owns all referenced objects and keeps them for the duration of the call.
struct BindContext {
   const catalog::Snapshot& catalog;
   const catalog::SearchPath& searchPath;
   const SessionFormat& format;           ///< literals of dates, times and intervals are read with it
   const SourceText* source = nullptr;    ///< of the tree, for error positions; null: errors have none
   std::span<const Oid> parameterTypes{}; ///< declared types of $1..., 0: infer
   bool rowSecurity = true;               ///< false: where policies would count, the query is refused
   bool isReplica = false;                ///< session_replication_role, which says what triggers fire
   bool allowParameters = true;           ///< false: $n is 42P02
   /// The function whose statement is bound: names that are no columns are its parameters, as $1, ... Null: none.
   const catalog::Function* routine = nullptr;
   const VariableNames* variables = nullptr; ///< of the program whose text is bound; null: none
   /// Casts of the program: the result's columns get these types, in the way of an assignment. Empty: no casts.
   std::span<const SqlType> resultTypes{};
   const PartTarget* part = nullptr;            ///< the result becomes this part of a variable, and is its new value
   const ::FuncCall* calledProcedure = nullptr; ///< of a CALL, the call of a procedure and no function; null: none
   CalledProcedure* called =
       nullptr; ///< of the CALL: its arguments are bound, and it is run by another; null: it is a query
   const ProgramCompiler* programs = nullptr;    ///< makes expressions of functions in PL/pgSQL; null: they are run
   bool givesPlaces = false;                     ///< it is a cursor's query: see BoundQuery::places
   const FindCursorPlace* cursorPlace = nullptr; ///< null: WHERE CURRENT OF is bound without a row
   bool givesRoutineRow = false; ///< the statement is its last: the result is one column, the row that it returns
   /// Types of the columns of a `routine` that returns records of any kind; empty: not known.
   std::span<const SqlType> routineColumns{};
   /// Tables of changed rows that a trigger function may read by their names; null: none.
   const std::vector<catalog::RelationPtr>* transitions = nullptr;
   /// Opens files for read_csv and its kin; passes on errors of the files. Null: these functions are 0A000.
   const OpenExternal* openExternal = nullptr;
   const OpenForeign* openForeign = nullptr; ///< null: foreign tables have rows for nobody
};

} // namespace ouzel::sql
