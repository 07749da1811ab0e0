#include "engine/session/statement_counting.hpp"

#include <utility>

#include "common/env/clock.hpp"
#include "engine/session/statement_audit.hpp"
#include "sql/parse/fingerprint.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

void StatementCounting::refresh() {
   const Settings& settings = core_.settings;
   seenSettings_ = settings.version();
   computesIds_ = settings.value("compute_query_id") != "off";
   isOn_ = settings.valueOf("pg_stat_statements.track") != "none";
   countsCommands_ = settings.valueOf("pg_stat_statements.track_utility") == "on";
   countsPlanning_ = settings.valueOf("pg_stat_statements.track_planning") == "on";
   role_ = core_.roleNamed(core_.database.catalog->newest(), core_.user());
   if (role_ == catalog::nobodyRole) seenSettings_ = UINT64_MAX; // perhaps its CREATE ROLE is not committed yet
}

CountedStatement StatementCounting::describe(const sql::ParsedStatement& statement) {
   follow();
   CountedStatement out;
   if (!computesIds_) return out;
   out.queryId = sql::fingerprint(statement);
   switch (nodeTag(statement.node)) {
   case T_PrepareStmt:
   case T_ExecuteStmt:
   case T_DeallocateStmt: break;
   default: out.kind = sql::isCommand(statement) ? CountedStatement::Kind::Command : CountedStatement::Kind::Query;
   }
   return out;
}

bool StatementCounting::wants(const CountedStatement& statement) {
   follow();
   if (!isOn_ || !computesIds_ || statement.queryId == 0) return false;
   switch (statement.kind) {
   case CountedStatement::Kind::Nothing: return false;
   case CountedStatement::Kind::Query: return true;
   case CountedStatement::Kind::Command: return countsCommands_;
   }
   return false;
}

CountedRun::CountedRun(StatementCounting& counting, const CountedStatement& statement)
   : counting_(counting), isWanted_(counting.wants(statement)),
     isCommand_(statement.kind == CountedStatement::Kind::Command), key_{invalidOid, counting.core_.options.databaseOid,
                                                                         statement.queryId, true} {
   if (isWanted_) tally_ = std::make_shared<executor::QueryTally>();
   resume();
}

CountedRun::~CountedRun() {
   pause();
   if (!suspendedText_) return;
   try {
      record(suspendedText_);
   } catch (...) {
      // Out of memory: the run is not counted.
   }
}

void CountedRun::resume() {
   suspendedText_ = nullptr;
   if (!isWanted_) return;
   scopes_.emplace(*this);
   startNanos_ = steadyNanos();
}

void CountedRun::pause() {
   if (!scopes_) return;
   use_.nanos += steadyNanos() - startNanos_;
   scopes_.reset();
   use_.pagesHit = tally_->frames.hits;
   use_.pagesRead = tally_->frames.misses;
   use_.spillBytesWritten = tally_->spillBytesWritten;
   use_.spillBytesRead = tally_->spillBytesRead;
}

void CountedRun::suspend(uint64_t rows, std::function<std::string()> makeText) {
   if (!isWanted_) return;
   pause();
   use_.rows += rows;
   suspendedText_ = std::move(makeText);
}

/// As in PostgreSQL, of commands only those have rows that give or copy some.
uint64_t CountedRun::rowsToCount(std::string_view tag) const {
   const bool hasRows = !isCommand_ || tag.starts_with("COPY") || tag.starts_with("FETCH") || tag.starts_with("SELECT");
   return hasRows ? rowsOfTag(tag).value_or(0) : 0;
}

} // namespace ouzel::engine
