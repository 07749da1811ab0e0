#pragma once
#include <string>

#include "common/audit/settings.hpp"
#include "common/log/session.hpp"
#include "common/log/settings.hpp"
#include "engine/setting/settings.hpp"

namespace ouzel::engine {

/// The log's settings of the process, from the configuration's values of log_destination and its kin. `directory`:
/// where a relative log_directory begins; empty: it has to be absolute. Throws 22023, 42704.
LogSettings logSettings(const SettingList& configuration, const std::string& directory);
/// The audit's, in the same way, from ouzel.audit_destination and its kin.
AuditSettings auditSettings(const SettingList& configuration, const std::string& directory);
/// The settings by which a session's lines are written.
void applyLogSettings(LogSession& session, const Settings& settings);

} // namespace ouzel::engine
