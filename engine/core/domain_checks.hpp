#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catalog/pg_catalog/snapshot_types.hpp"
#include "common/memory/ledger.hpp"
#include "common/type/session_format.hpp"
#include "executor/expression/program.hpp"

namespace ouzel::engine {

/// The types of users as a session sees them, and the checks of its domains. Any thread may check values.
class DomainChecks final : public catalog::SnapshotTypes {
public:
   /// `functions`: what the checks may call; lives as long as the session. `memory`: where they are charged.
   DomainChecks(executor::SessionFunctions* functions, MemoryLedger& memory) : functions_(functions), memory_(memory) {}

   /// The session's format, with which the checks read and print, and its now().
   void setFormat(const SessionFormat& format);
   void checkDomain(Oid domain, const Vector& values, const Selection& rows) const override;

private:
   struct Check {
      std::string constraint;
      std::shared_ptr<const executor::ExpressionProgram> program;
   };
   /// What one domain checks itself.
   struct Step {
      Oid elements = invalidOid; ///< the domain of the elements, where the values are arrays of one
      bool notNull = false;
      std::vector<Check> checks;
   };
   /// The steps of a domain and of those that it is made over, the innermost first.
   struct Steps {
      catalog::Snapshot snapshot;
      std::string name;              ///< of the outermost, as messages show it
      std::string schema, plainName; ///< of the outermost
      std::vector<Step> steps;
   };

   SessionFormat format() const;
   std::shared_ptr<const Steps> stepsOf(Oid domain) const;
   std::shared_ptr<const Steps> make(Oid domain) const;
   void checkElements(Oid domain, const Vector& arrays, const Selection& rows) const;

   executor::SessionFunctions* const functions_;
   MemoryLedger& memory_;
   mutable Mutex mutex_;
   SessionFormat format_ GUARDED_BY(mutex_);
   mutable std::map<Oid, std::shared_ptr<const Steps>> known_ GUARDED_BY(mutex_); ///< of one state of the catalog
};

} // namespace ouzel::engine
