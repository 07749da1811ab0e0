#pragma once
#include <string>

#include "common/log/entry.hpp"
#include "common/log/settings.hpp"

// The forms in which PostgreSQL writes a record. Each function appends whole lines.

namespace ouzel {

/// stderr: a line for the message and one each for DETAIL, HINT, QUERY, CONTEXT, LOCATION and STATEMENT, all with the
/// prefix. Further lines of a text begin with a tab.
void appendTextLines(std::string& out, const LogEntry& entry, const LogSettings& settings);
/// csvlog: one line with PostgreSQL's 26 columns.
void appendCsvLine(std::string& out, const LogEntry& entry, const LogSettings& settings);
/// jsonlog: one object with PostgreSQL's keys; those without a value are left out.
void appendJsonLine(std::string& out, const LogEntry& entry, const LogSettings& settings);

} // namespace ouzel
