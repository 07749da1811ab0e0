#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "catalog/object/search_path.hpp"
#include "catalog/object/snapshot.hpp"
#include "common/type/session_format.hpp"
#include "sql/algebra/rel.hpp"
#include "sql/parse/parser.hpp"

namespace ouzel::io {
struct ExternalRequest;
}

namespace ouzel::sql {

/// Opens the files that `function` (read_csv, read_json, read_parquet) names as one table.
using OpenExternal = std::function<std::shared_ptr<const io::ExternalTable>(std::string_view function,
                                                                            const io::ExternalRequest& request)>;

/// Inputs of binding other than the tree: catalog snapshot, search path, session settings, types of parameters. The
/// caller owns all referenced objects and keeps them for the duration of the call.
struct BindContext {
   const catalog::Snapshot& catalog;
   const catalog::SearchPath& searchPath;
   const SessionFormat& format;           ///< literals of dates, times and intervals are read with it
   const SourceText* source = nullptr;    ///< of the tree, for error positions; null: errors have none
   std::span<const Oid> parameterTypes{}; ///< declared types of $1..., 0: infer
   bool rowSecurity = true;               ///< false: where policies would count, the query is refused
   bool allowParameters = true;           ///< false: $n is 42P02
   /// Opens files for read_csv and its kin; passes on errors of the files. Null: these functions are 0A000.
   const OpenExternal* openExternal = nullptr;
};

} // namespace ouzel::sql
