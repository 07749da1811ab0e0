#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/command_context.hpp"

struct DefElem;
struct List;

namespace ouzel::engine {

/// The options of CREATE DATABASE or ALTER DATABASE, each given once at most. An option whose value is DEFAULT is as
/// one that is not given.
class DatabaseClauses {
public:
   /// Throws 42601 for an option that is given twice, or that is none of `known`.
   DatabaseClauses(CommandContext& context, const ::List* options, const std::vector<std::string_view>& known);

   bool isGiven(std::string_view name) const { return options_.contains(name); }
   size_t count() const { return options_.size(); }
   /// Where the option stands in the statement.
   uint32_t position(std::string_view name) const;
   // The value. Each throws 42601 if it is of another kind.
   std::optional<std::string> text(std::string_view name) const;
   std::optional<bool> boolean(std::string_view name) const;
   std::optional<int32_t> integer(std::string_view name) const;
   std::optional<Oid> oid(std::string_view name) const;
   /// CONNECTION LIMIT. Throws 22023 for one below -1.
   std::optional<int32_t> connectionLimit() const;
   /// The canonical name of ENCODING. Throws 42704 for one that PostgreSQL does not have.
   std::optional<std::string> encoding() const;

private:
   const ::DefElem* find(std::string_view name) const;

   CommandContext& context_;
   std::map<std::string_view, const ::DefElem*> options_;
};

/// Checks a tablespace that a database is to lie in: there is pg_default. Throws 42704 and 22023.
void requireDefaultTablespace(SessionCore& core, const std::string& tablespace);

} // namespace ouzel::engine
