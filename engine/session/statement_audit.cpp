#include "engine/session/statement_audit.hpp"

#include <charconv>
#include <utility>

#include "common/audit/classes.hpp"
#include "common/env/clock.hpp"
#include "common/log/secrets.hpp"
#include "sql/parse/string_syntax.hpp"

namespace ouzel::engine {

namespace {

uint32_t classesOf(const std::string& setting) {
   std::string badWord;
   return parseAuditClasses(setting, badWord).value_or(0);
}

/// What happens against the rules, which is always recorded.
bool isRefusal(const SqlError& error) {
   return error.state() == sqlstate::insufficientPrivilege || error.state().text().starts_with("28");
}

/// A query that writes, as SELECT with a DELETE in its WITH does, is no mere read.
std::string_view classNameOf(const AuditedStatement& statement) {
   const bool writes = (statement.touched.classes() & audit_class::write) != 0;
   if (statement.traits.classes == audit_class::read && writes) return auditClassName(audit_class::write);
   return auditClassName(statement.traits.classes & (~statement.traits.classes + 1)); // of several, the first
}

} // namespace

std::optional<uint64_t> rowsOfTag(std::string_view tag) {
   const size_t space = tag.rfind(' ');
   if (space == std::string_view::npos) return std::nullopt;
   uint64_t rows = 0;
   const auto parsed = std::from_chars(tag.data() + space + 1, tag.data() + tag.size(), rows);
   return parsed.ec == std::errc() && parsed.ptr == tag.data() + tag.size() ? std::optional(rows) : std::nullopt;
}

AuditedStatement::~AuditedStatement() {
   if (isWritten) return;
   try {
      audit_.write(*this, nullptr, false);
   } catch (...) {
      // Out of memory: the session ends, or its statement has failed already.
   }
}

std::string StatementAudit::settingsNow() const {
   return core_.settings.value("ouzel.audit") + "\n" + core_.settings.value("ouzel.audit_role") + "\n" +
          core_.settings.value("ouzel.audit_parameters");
}

void StatementAudit::begin(const AuditTraits& traits, std::string_view command, std::string_view text,
                           std::shared_ptr<const void> owner) {
   if (!traits.isControl) requireAudit(); // ROLLBACK always works
   const std::string& roleName = core_.settings.value("ouzel.audit_role");
   const catalog::RolePtr auditRoleFound =
       roleName.empty() ? nullptr : core_.database.catalog->newest().findRole(roleName);
   const Oid auditRole = auditRoleFound ? auditRoleFound->oid : invalidOid;
   auto statement = std::make_unique<AuditedStatement>(*this, traits, auditRole);
   statement->command = command;
   statement->text = text;
   statement->owner = std::move(owner);
   statement->sessionUser = core_.sessionUser();
   statement->role = core_.user();
   statement->settings = settingsNow();
   // Without the role that says what is watched, all is.
   const bool isRoleMissing = !roleName.empty() && !auditRoleFound;
   statement->wanted = isRoleMissing ? audit_class::all : classesOf(core_.settings.value("ouzel.audit"));
   resume(std::move(statement));
}

void StatementAudit::resume(std::unique_ptr<AuditedStatement> statement) {
   DCHECK(!running_); // statements do not run inside each other
   running_ = std::move(statement);
   core_.touched = &running_->touched;
   startNanos_ = steadyNanos();
}

/// The statement does not run now.
void StatementAudit::pause() {
   core_.touched = nullptr;
   running_->nanos += steadyNanos() - startNanos_;
}

std::unique_ptr<AuditedStatement> StatementAudit::take() {
   if (running_) pause();
   return std::move(running_);
}

std::unique_ptr<AuditedStatement> StatementAudit::takeWithText() {
   std::unique_ptr<AuditedStatement> statement = take();
   if (!statement || statement->owner) return statement;
   const auto text = std::make_shared<std::string>(statement->text);
   statement->text = *text;
   statement->owner = text;
   return statement;
}

void StatementAudit::end(std::string_view tag) {
   if (!running_) return;
   if (running_->settings != settingsNow()) running_->traits.changesAudit = true;
   const std::unique_ptr<AuditedStatement> statement = take();
   const std::optional<uint64_t> rows = rowsOfTag(tag);
   if (rows) statement->rows = statement->rows.value_or(0) + *rows;
   if (core_.transaction.isOpen()) statement->touched.findNew(core_);
   // What has been committed cannot fail any more.
   write(*statement, nullptr, core_.transaction.isOpen());
}

void StatementAudit::fail(const SqlError& error) noexcept {
   if (running_) fail(take(), error);
}

void StatementAudit::fail(std::unique_ptr<AuditedStatement> statement, const SqlError& error) noexcept {
   if (!statement) return;
   try {
      write(*statement, &error, false);
   } catch (...) {
      // Out of memory, which the statement's own error most likely tells.
   }
}

std::string_view StatementAudit::reasonFor(const AuditedStatement& statement, const SqlError* error) {
   if (error && isRefusal(*error)) return "refused";
   if (error && statement.traits.isControl && statement.command == "COMMIT") return "commit";
   if (statement.traits.changesAudit) return "setting";
   if (((statement.traits.classes | statement.touched.classes()) & statement.wanted) != 0) return "class";
   return statement.touched.isWatched() ? "object" : "";
}

void StatementAudit::write(AuditedStatement& statement, const SqlError* error, bool mayFail) {
   statement.isWritten = true;
   AuditRecord record;
   record.reason = reasonFor(statement, error);
   if (record.reason.empty()) return;
   record.className = classNameOf(statement);
   record.command = statement.command;
   record.session = &core_.log;
   record.sessionUser = statement.sessionUser;
   record.role = statement.role;
   record.objects = &statement.touched.all();
   record.rows = statement.rows;
   record.durationMicros = statement.nanos / 1000;
   const MaskedStatement text = maskSecrets(statement.text), prepared = maskSecrets(statement.prepared);
   record.statement = text.isMasked() ? std::string_view(text.text) : statement.text;
   record.prepared = prepared.isMasked() ? std::string_view(prepared.text) : statement.prepared;
   record.parameters = statement.parameters;
   std::string message;
   const SqlState state = error ? error->state() : sqlstate::successfulCompletion;
   if (error) {
      record.state = state.text();
      record.message = message = prepared.hideIn(text.hideIn(error->what()));
   }
   if (!mayFail) return audit(record);
   try {
      auditOrFail(record);
   } catch (const SqlError& unwritten) {
      // The record above is kept. One more tells that the statement did not come to its end after all.
      const SqlState ioError = unwritten.state();
      record.state = ioError.text();
      record.message = unwritten.what();
      audit(record);
      throw;
   }
}

void StatementAudit::refuseText(std::string_view text, const SqlError& error) noexcept {
   if (!isAuditOn() || running_) return;
   try {
      AuditTraits traits{audit_class::misc, false, false};
      std::string_view command;
      try {
         const sql::StringSyntax syntax(core_.settings.value("standard_conforming_strings") != "off");
         const auto script = sql::ParsedScript::parse(text);
         if (!script.statements().empty()) {
            traits = auditTraits(script.statements()[0].node);
            command = commandTag(script.statements()[0].node);
         }
      } catch (const SqlError&) {
         // No statement: misc.
      }
      traits.changesAudit = false;
      traits.isControl = true; // not to be refused for the audit's sake
      begin(traits, command, text);
      fail(error);
   } catch (...) {
      running_.reset(); // out of memory
   }
}

void StatementAudit::refuseCommit(const SqlError& error) noexcept {
   if (!isAuditOn() || running_) return;
   try {
      begin({audit_class::misc, true, false}, "COMMIT", {});
      fail(error);
   } catch (...) {
      running_.reset(); // out of memory
   }
}

} // namespace ouzel::engine
