#pragma once
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "common/audit/audit.hpp"
#include "engine/core/session_core.hpp"
#include "engine/core/touched_relations.hpp"
#include "engine/query/command_tag.hpp"

namespace ouzel::engine {

class StatementAudit;

/// One statement from its beginning until its record is written; at the latest when the object ends, so that a portal
/// which is closed early has its record, too.
class AuditedStatement {
public:
   AuditedStatement(StatementAudit& audit, const AuditTraits& auditTraits, Oid auditRole)
      : traits(auditTraits), touched(auditRole), audit_(audit) {}
   ~AuditedStatement();
   AuditedStatement(const AuditedStatement&) = delete;
   AuditedStatement& operator=(const AuditedStatement&) = delete;

   AuditTraits traits;
   std::string_view command;        ///< static
   std::string_view text, prepared; ///< as long as `owner` lives; without one, while the statement runs
   std::shared_ptr<const void> owner;
   std::string parameters;
   std::string sessionUser, role; ///< who acts, as it begins
   std::string settings;          ///< by which it is recorded, as it begins
   uint32_t wanted = 0;           ///< ouzel.audit
   TouchedRelations touched;
   std::optional<uint64_t> rows;
   int64_t nanos = 0; ///< that it has run so far
   bool isWritten = false;

private:
   StatementAudit& audit_;
};

/// Tells the audit what the session's statements do. Owned by SessionImpl; used by the session's thread.
///
///    begin() or resume() --guard()--> the statement runs --end()--> a record, or
///                                                        --take()--> a portal keeps it, for more rows
///
/// Each does nothing for a statement that has not begun here: while there is no audit.
class StatementAudit {
public:
   explicit StatementAudit(SessionCore& core) : core_(core) {}

   /// REQUIRES: isAuditOn(). Throws 58030 while records cannot be written that have to be.
   void begin(const AuditTraits& traits, std::string_view command, std::string_view text,
              std::shared_ptr<const void> owner = nullptr);
   /// The statement that begin() has begun: what EXECUTE runs, and the values of parameters.
   AuditedStatement* running() { return running_.get(); }
   /// ouzel.audit_parameters.
   bool wantsParameters() const { return running_ && core_.settings.boolean("ouzel.audit_parameters"); }
   void resume(std::unique_ptr<AuditedStatement> statement);
   std::unique_ptr<AuditedStatement> take();
   /// The same for a cursor, which outlives the text that declares it.
   std::unique_ptr<AuditedStatement> takeWithText();

   /// Runs a part of the statement; its error is the statement's.
   template <typename Run>
   auto guard(Run&& run) {
      if (!running_) return run();
      try {
         return run();
      } catch (const SqlError& error) {
         fail(error);
         throw;
      } catch (const std::bad_alloc&) {
         fail(SqlError(sqlstate::outOfMemory, "out of memory"));
         throw;
      } catch (const std::exception& error) {
         fail(SqlError(sqlstate::internalError, error.what()));
         throw;
      }
   }
   /// The statement has succeeded. Throws 58030 if its record has to be written and cannot be.
   void end(std::string_view tag);
   void fail(const SqlError& error) noexcept;
   /// The same for a statement that a portal keeps.
   void fail(std::unique_ptr<AuditedStatement> statement, const SqlError& error) noexcept;

   /// A text that could not be parsed, or named what does not exist.
   void refuseText(std::string_view text, const SqlError& error) noexcept;
   /// The commit at the end of an implicit transaction has failed.
   void refuseCommit(const SqlError& error) noexcept;

private:
   friend class AuditedStatement;
   /// Why the statement is recorded; empty: it is not.
   static std::string_view reasonFor(const AuditedStatement& statement, const SqlError* error);
   /// `mayFail`: with 58030.
   void write(AuditedStatement& statement, const SqlError* error, bool mayFail);
   std::string settingsNow() const;
   void pause();

   SessionCore& core_;
   std::unique_ptr<AuditedStatement> running_;
   int64_t startNanos_ = 0; ///< of this part of running_
};

/// The number of rows in a command tag: 3 of "INSERT 0 3"; nullopt: it has none.
std::optional<uint64_t> rowsOfTag(std::string_view tag);

} // namespace ouzel::engine
