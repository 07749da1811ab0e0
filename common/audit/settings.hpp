#pragma once
#include "common/log/settings.hpp"

namespace ouzel {

/// The audit's settings for the whole process.
struct AuditSettings {
   bool isOn = false;       ///< ouzel.audit_destination
   LogFileSettings files;   ///< ouzel.audit_directory and ouzel.audit_filename; they rotate as the log's
   bool chains = false;     ///< ouzel.audit_chain
   bool isRequired = false; ///< ouzel.audit_required
};

} // namespace ouzel
