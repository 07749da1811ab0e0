#pragma once
#include <atomic>
#include <string>

#include "common/audit/record.hpp"
#include "common/audit/settings.hpp"

// The process's audit: records of who did what, in files of their own (docs/OPERATIONS.md, "Audit").
//
// A record gets its time and its number under a mutex, which also queues it; the first thread to find no writer writes
// for all of them, without the mutex. When the file cannot be written, records are dropped, and warnings in the log
// count them; with ouzel.audit_required they stay in the queue, and statements fail until they are written. All
// functions are thread-safe.

namespace ouzel {

namespace audit_detail {
inline std::atomic<bool> isOn{false}, isRequired{false};
}
/// Whether there is an audit: ask before a record is made.
inline bool isAuditOn() {
   return audit_detail::isOn.load(std::memory_order_relaxed);
}

/// Write a record. Does nothing while the audit is off.
void audit(const AuditRecord& record);
/// The same, and wait until it is written if ouzel.audit_required asks for it. Throws 58030 if it cannot be written;
/// it is kept, and written when it can be.
void auditOrFail(const AuditRecord& record);
/// Before a statement runs: throws 58030 while ouzel.audit_required is on and earlier records cannot be written.
void requireAudit();

/// Go over to these settings. Tells the audit of its own start and end. Throws 58030 when the file cannot be opened;
/// the audit goes on as it was.
void configureAudit(const AuditSettings& settings);
/// The server ends: write what is queued.
void closeAudit();
/// The path of the file that records go to; empty: there is none.
std::string currentAuditFile();

} // namespace ouzel
