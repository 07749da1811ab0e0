#include "engine/query/event_tags.hpp"

#include <algorithm>
#include <span>

#include "engine/query/command_tag.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using sql::as;

namespace {

/// What CREATE, ALTER and DROP of which fires event triggers. Some of the commands do not exist, which does not matter.
constexpr std::string_view objects[] = {
    "ACCESS METHOD",
    "AGGREGATE",
    "CAST",
    "COLLATION",
    "CONSTRAINT",
    "CONVERSION",
    "DOMAIN",
    "EXTENSION",
    "FOREIGN DATA WRAPPER",
    "FOREIGN TABLE",
    "FUNCTION",
    "INDEX",
    "LANGUAGE",
    "MATERIALIZED VIEW",
    "OPERATOR",
    "OPERATOR CLASS",
    "OPERATOR FAMILY",
    "POLICY",
    "PROCEDURE",
    "PUBLICATION",
    "ROUTINE",
    "RULE",
    "SCHEMA",
    "SEQUENCE",
    "SERVER",
    "STATISTICS",
    "SUBSCRIPTION",
    "TABLE",
    "TEXT SEARCH CONFIGURATION",
    "TEXT SEARCH DICTIONARY",
    "TEXT SEARCH PARSER",
    "TEXT SEARCH TEMPLATE",
    "TRANSFORM",
    "TRIGGER",
    "TYPE",
    "USER MAPPING",
    "VIEW",
};
constexpr std::string_view others[] = {
    "ALTER DEFAULT PRIVILEGES", "ALTER LARGE OBJECT",        "COMMENT", "CREATE TABLE AS", "DROP OWNED",  "GRANT",
    "IMPORT FOREIGN SCHEMA",    "REFRESH MATERIALIZED VIEW", "REVOKE",  "SECURITY LABEL",  "SELECT INTO",
};
constexpr std::string_view rewriting[] = {"ALTER MATERIALIZED VIEW", "ALTER TABLE", "ALTER TYPE"};
/// Objects of the cluster, and the triggers themselves.
constexpr std::string_view silentObjects[] = {"DATABASE", "EVENT TRIGGER", "ROLE", "TABLESPACE"};
constexpr std::string_view silent[] = {
    "ALTER SYSTEM",
    "ANALYZE",
    "BEGIN",
    "CALL",
    "CHECKPOINT",
    "CLOSE",
    "CLOSE CURSOR",
    "CLOSE CURSOR ALL",
    "CLUSTER",
    "COMMIT",
    "COMMIT PREPARED",
    "COPY",
    "COPY FROM",
    "DEALLOCATE",
    "DEALLOCATE ALL",
    "DECLARE CURSOR",
    "DELETE",
    "DISCARD",
    "DISCARD ALL",
    "DISCARD PLANS",
    "DISCARD SEQUENCES",
    "DISCARD TEMP",
    "DO",
    "DROP REPLICATION SLOT",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "GRANT ROLE",
    "INSERT",
    "LISTEN",
    "LOAD",
    "LOCK TABLE",
    "MERGE",
    "MOVE",
    "NOTIFY",
    "PREPARE",
    "PREPARE TRANSACTION",
    "REASSIGN OWNED",
    "REINDEX",
    "RELEASE",
    "RESET",
    "REVOKE ROLE",
    "ROLLBACK",
    "ROLLBACK PREPARED",
    "SAVEPOINT",
    "SELECT",
    "SELECT FOR KEY SHARE",
    "SELECT FOR NO KEY UPDATE",
    "SELECT FOR SHARE",
    "SELECT FOR UPDATE",
    "SET",
    "SET CONSTRAINTS",
    "SHOW",
    "START TRANSACTION",
    "TRUNCATE TABLE",
    "UNLISTEN",
    "UPDATE",
    "VACUUM",
};

bool has(std::span<const std::string_view> list, std::string_view text) {
   return std::ranges::find(list, text) != list.end();
}

/// Objects of the cluster have no event triggers.
bool isOfCluster(::ObjectType type) {
   return type == OBJECT_DATABASE || type == OBJECT_TABLESPACE || type == OBJECT_ROLE || type == OBJECT_EVENT_TRIGGER ||
          type == OBJECT_PARAMETER_ACL;
}

} // namespace

EventTag eventTag(std::string_view tag) {
   if (has(rewriting, tag)) return EventTag::Rewrites;
   if (has(others, tag)) return EventTag::Fires;
   if (has(silent, tag)) return EventTag::NoEvents;
   for (const std::string_view verb : {"CREATE ", "ALTER ", "DROP "}) {
      if (!tag.starts_with(verb)) continue;
      const std::string_view object = tag.substr(verb.size());
      if (has(objects, object)) return EventTag::Fires;
      if (has(silentObjects, object)) return EventTag::NoEvents;
   }
   return EventTag::Unknown;
}

std::string_view eventTagOf(const ::Node* command) {
   switch (nodeTag(command)) {
   case T_CommentStmt:
      if (isOfCluster(as<::CommentStmt>(command)->objtype)) return {};
      break;
   case T_GrantStmt:
      if (isOfCluster(as<::GrantStmt>(command)->objtype)) return {};
      break;
   default: break;
   }
   const std::string_view tag = commandTag(command);
   const EventTag known = eventTag(tag);
   return known == EventTag::Fires || known == EventTag::Rewrites ? tag : std::string_view();
}

} // namespace ouzel::engine
