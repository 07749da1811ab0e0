#pragma once
#include <cstdint>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/error/source_place.hpp"

// The one exception type that ends a statement. It carries what the wire protocol's ErrorResponse needs,
// so no layer above has to guess a code from a message text.

namespace ouzel {

/// A five-character SQLSTATE. A malformed literal does not compile.
class SqlState {
public:
   consteval SqlState(const char (&code)[6]) {
      for (int i = 0; i < 5; ++i) {
         if (!isAllowed(code[i])) throw "SQLSTATE uses 0-9 and A-Z only";
         code_[i] = code[i];
      }
   }
   /// The code that a user's RAISE names; nullopt: the text is none.
   static constexpr std::optional<SqlState> fromText(std::string_view text) {
      if (text.size() != 5) return std::nullopt;
      SqlState state;
      for (size_t i = 0; i < 5; ++i) {
         if (!isAllowed(text[i])) return std::nullopt;
         state.code_[i] = text[i];
      }
      return state;
   }

   constexpr std::string_view text() const { return {code_, 5}; }
   constexpr bool operator==(const SqlState&) const = default;

private:
   constexpr SqlState() = default;
   static constexpr bool isAllowed(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); }

   char code_[5]{};
};

namespace sqlstate {
#define SQLSTATE(name, code) inline constexpr SqlState name{code};
#include "common/error/sqlstates.def"
#undef SQLSTATE
} // namespace sqlstate

/// Thrown where the problem is found; caught once, in protocol/session.cpp, which turns it into an ErrorResponse.
/// Built fluently: `throw SqlError(sqlstate::undefinedTable, "...").at(position).hint("...");`
class SqlError : public std::runtime_error {
public:
   SqlError(SqlState state, const std::string& message, std::source_location thrownAt = std::source_location::current())
      : std::runtime_error(message), state_(state), where_(thrownAt) {}

   /// Where in the statement text the problem lies, counted in characters from 1 (0: unknown).
   SqlError&& at(uint32_t position) && {
      position_ = position;
      return std::move(*this);
   }
   SqlError&& detail(std::string text) && {
      detail_ = std::move(text);
      return std::move(*this);
   }
   /// The detail as the server's log has it, which may tell what the client must not see: others' statements.
   SqlError&& detailForLog(std::string text) && {
      detailForLog_ = std::move(text);
      return std::move(*this);
   }
   /// A remedy that the user can try: a full sentence, unlike the message.
   SqlError&& hint(std::string text) && {
      hint_ = std::move(text);
      return std::move(*this);
   }
   /// The place in the statement's input: "COPY t, line 3, column a: ...". One line for each function that was being
   /// executed, the innermost first.
   SqlError&& context(std::string text) && {
      context_ = std::move(text);
      return std::move(*this);
   }
   /// Where the problem lies in a text that is not the client's: the body of a function, a query in it.
   SqlError&& internal(std::string query, uint32_t position) && {
      setInternal(std::move(query), position);
      return std::move(*this);
   }
   SqlError&& table(std::string schema, std::string name) && {
      schemaName_ = std::move(schema);
      tableName_ = std::move(name);
      return std::move(*this);
   }
   SqlError&& column(std::string name) && {
      columnName_ = std::move(name);
      return std::move(*this);
   }
   SqlError&& constraint(std::string name) && {
      constraintName_ = std::move(name);
      return std::move(*this);
   }
   SqlError&& dataType(std::string name) && {
      dataTypeName_ = std::move(name);
      return std::move(*this);
   }
   /// The function of PostgreSQL that reports this error, where drivers tell errors of one SQLSTATE apart by it.
   SqlError&& routine(const char* name) && {
      routine_ = name;
      return std::move(*this);
   }

   SqlState state() const { return state_; }
   uint32_t position() const { return position_; }
   const std::string& detailText() const { return detail_; }
   /// Empty: the log has detailText().
   const std::string& logDetailText() const { return detailForLog_; }
   const std::string& hintText() const { return hint_; }
   const std::string& contextText() const { return context_; }
   const std::string& schemaName() const { return schemaName_; }
   const std::string& tableName() const { return tableName_; }
   const std::string& columnName() const { return columnName_; }
   const std::string& constraintName() const { return constraintName_; }
   const std::string& dataTypeName() const { return dataTypeName_; }
   const std::string& internalQuery() const { return internalQuery_; }
   uint32_t internalPosition() const { return internalPosition_; }
   std::string_view routineName() const {
      return *routine_ ? std::string_view(routine_) : functionName(where_.function_name());
   }
   /// Where the error was made; for reports.
   const std::source_location& where() const { return where_; }

   /// Fill in the position or context when the thrower could not know it.
   void setPosition(uint32_t position) { position_ = position; }
   void setContext(std::string text) { context_ = std::move(text); }
   /// Adds what was executing what the context tells of.
   void addContext(std::string_view line) {
      if (!context_.empty()) context_ += '\n';
      context_ += line;
   }
   void setInternal(std::string query, uint32_t position) {
      internalQuery_ = std::move(query);
      internalPosition_ = position;
   }

private:
   SqlState state_;
   uint32_t position_ = 0, internalPosition_ = 0;
   std::string detail_, detailForLog_, hint_, context_, internalQuery_;
   std::string schemaName_, tableName_, columnName_, constraintName_, dataTypeName_;
   const char* routine_ = ""; ///< static; empty: the function of where_
   std::source_location where_;
};

/// Throw 0A000 "<feature> is not supported", for a feature that is not built yet.
[[noreturn, gnu::cold]] void throwNotSupported(std::string_view feature, uint32_t position = 0,
                                               std::source_location where = std::source_location::current());

/// Throw XX000 with file and line: an invariant is broken, and only this query is harmed.
[[noreturn, gnu::cold]] void throwInternal(std::string_view what,
                                           std::source_location where = std::source_location::current());

} // namespace ouzel
