#include "engine/session/session_impl.hpp"
#include "sql/parse/fingerprint.hpp"
#include "sql/parse/string_syntax.hpp"

// What the audit and pg_stat_statements are told of the statements that Execute messages run.

namespace ouzel::engine {

/// The portal's statement begins, or goes on.
void SessionImpl::beginAudit(Portal& portal) {
   if (portal.audited) return audit_.resume(std::move(portal.audited));
   const bool isNew = !portal.isDone && !portal.execution && !portal.cursor && !portal.statement->isEmpty;
   if (!isNew) return; // it began before there was an audit
   const PreparedStatement& statement = *portal.statement;
   audit_.begin(statement.audit, statement.command, statement.text, portal.statement);
   if (audit_.wantsParameters() && !portal.parameters.empty())
      audit_.running()->parameters = log_.list(portal.parameters, -1);
}

void SessionImpl::endAudit(std::string_view name, const ExecuteResult& result, uint64_t maxRows) {
   AuditedStatement* statement = audit_.running();
   if (!statement) return;
   Portal* portal = portals_.find(name); // null: the statement has ended it
   const bool isSuspended = result.kind == ExecuteResult::Kind::Suspended;
   if (!portal || (!isSuspended && !portal->cursor)) return audit_.end(result.tag);
   statement->rows = statement->rows.value_or(0) + (isSuspended ? maxRows : rowsOfTag(result.tag).value_or(0));
   portal->audited = audit_.take();
}

/// The text that pg_stat_statements shows: of a statement that PREPARE has made, that of the PREPARE.
std::string SessionImpl::countedText(const PreparedStatement& statement) const {
   const std::string& text = statement.isFromSql ? statement.shownText : statement.text;
   try {
      const sql::StringSyntax syntax(core_.settings.value("standard_conforming_strings") != "off");
      return sql::normalizedText(sql::ParsedScript::parse(text).statements().at(0));
   } catch (const SqlError&) {
      return text; // a setting that the text needs has changed since
   }
}

/// Null: the statement is not counted, or its portal has no more rows.
std::unique_ptr<CountedRun> SessionImpl::beginCount(Portal& portal) {
   if (portal.counted) {
      portal.counted->resume();
      return std::move(portal.counted);
   }
   if (!portal.statement || portal.isDone || portal.execution || portal.cursor) return nullptr;
   return std::make_unique<CountedRun>(counting_, portal.statement->counted);
}

void SessionImpl::endCount(std::string_view name, std::unique_ptr<CountedRun> run, const ExecuteResult& result,
                           uint64_t maxRows, const std::shared_ptr<const PreparedStatement>& statement) {
   Portal* portal = portals_.find(name); // null: the statement has ended it
   const auto text = [this, statement] { return countedText(*statement); };
   if (!portal || result.kind != ExecuteResult::Kind::Suspended) return run->end(result.tag, text);
   run->suspend(maxRows, text);
   portal->counted = std::move(run);
}

} // namespace ouzel::engine
