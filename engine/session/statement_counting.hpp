#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/core/session_core.hpp"
#include "engine/statement/statement_statistics.hpp"
#include "executor/pipeline/query_tally.hpp"

namespace ouzel::sql {
struct ParsedStatement;
}

namespace ouzel::engine {

/// As what pg_stat_statements counts a statement.
struct CountedStatement {
   /// PREPARE, EXECUTE and DEALLOCATE count as nothing: what EXECUTE runs is counted.
   enum class Kind : uint8_t { Nothing, Query, Command };

   uint64_t queryId = 0; ///< 0: compute_query_id is off
   Kind kind = Kind::Nothing;
};

/// Counts what the client's statements take, as the settings of pg_stat_statements ask. What programs run counts for
/// the statement that calls them. Owned by SessionImpl; used by the session's thread.
class StatementCounting {
public:
   explicit StatementCounting(SessionCore& core) : core_(core), statistics_(*core.database.statements) {}

   CountedStatement describe(const sql::ParsedStatement& statement);

private:
   friend class CountedRun;
   void follow() {
      if (core_.settings.version() != seenSettings_) refresh();
   }
   void refresh();
   bool wants(const CountedStatement& statement);

   SessionCore& core_;
   StatementStatistics& statistics_;
   uint64_t seenSettings_ = UINT64_MAX; ///< Settings::version() of the values below
   bool computesIds_ = false, isOn_ = false, countsCommands_ = false, countsPlanning_ = false;
   Oid role_ = invalidOid; ///< who acts
};

/// One run of a statement.
///
///    made, or resume() --> it runs --end()--> it is counted
///                                  --suspend()--> it may have more rows; counted at the latest when the object ends
///
/// A run that ends otherwise has failed, and is not counted.
class CountedRun {
public:
   /// The statement begins.
   CountedRun(StatementCounting& counting, const CountedStatement& statement);
   ~CountedRun();
   CountedRun(const CountedRun&) = delete;
   CountedRun& operator=(const CountedRun&) = delete;

   /// Its rows so far have been given. `makeText`: as for end().
   void suspend(uint64_t rows, std::function<std::string()> makeText);
   void resume();
   /// The statement has succeeded with this command tag. `makeText` returns the text to show.
   template <typename MakeText>
   void end(std::string_view tag, MakeText&& makeText) {
      if (!isWanted_) return;
      pause();
      use_.rows += rowsToCount(tag);
      record(std::forward<MakeText>(makeText));
   }

private:
   template <typename MakeText>
   void record(MakeText&& makeText) {
      if (isCommand_) use_.preparationNanos = 0; // of queries within it, which are its work
      if (isCommand_ || !counting_.countsPlanning_) use_.plans = 0;
      counting_.follow();
      key_.role = counting_.role_; // SET ROLE counts for the new role, as in PostgreSQL
      counting_.statistics_.add(key_, use_, std::forward<MakeText>(makeText));
   }
   void pause();
   uint64_t rowsToCount(std::string_view tag) const;

   StatementCounting& counting_;
   const bool isWanted_;
   const bool isCommand_;
   StatementKey key_;
   StatementUse use_;
   std::shared_ptr<executor::QueryTally> tally_; ///< of its queries; null: not wanted
   struct Scopes {
      explicit Scopes(CountedRun& run) : use(&run.use_), queries(run.tally_) {}
      const StatementUseScope use;
      const executor::QueryTallyScope queries;
   };
   std::optional<Scopes> scopes_; ///< while it runs
   int64_t startNanos_ = 0;
   std::function<std::string()> suspendedText_; ///< null: not suspended
};

} // namespace ouzel::engine
