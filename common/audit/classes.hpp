#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The classes of statements that ouzel.audit names.

namespace ouzel {

namespace audit_class {
inline constexpr uint32_t read = 1, ///< SELECT, COPY TO
    write = 2,                      ///< INSERT, UPDATE, DELETE, MERGE, TRUNCATE, COPY FROM
    ddl = 4,                        ///< CREATE, ALTER, DROP, COMMENT
    role = 8,                       ///< roles, memberships, GRANT and REVOKE
    misc = 16,                      ///< all others: transactions, SET, FETCH, VACUUM
    all = 31;
} // namespace audit_class

/// "read"; of one bit.
std::string_view auditClassName(uint32_t one);
/// The classes of a list such as "all, -misc", read from left to right. nullopt: a word is none of the classes;
/// `badWord` is that word.
std::optional<uint32_t> parseAuditClasses(std::string_view list, std::string& badWord);

} // namespace ouzel
