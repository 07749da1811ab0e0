#pragma once
#include <memory>
#include <string>
#include <vector>

#include "common/client/access_rules.hpp"
#include "common/sync/mutex.hpp"
#include "server/hba/hba_rules.hpp"
#include "server/hba/ident_map.hpp"
#include "server/options.hpp"

namespace ouzel::server {

/// What --hba and --ident say, as of one reading. Immutable.
struct AccessFiles {
   std::string hbaFile, identFile; ///< no identFile: there are no maps
   std::vector<HbaRule> rules;
   IdentMap identities;
   std::vector<std::string> warnings; ///< what is allowed, but hardly meant

   /// Throws UsageError, which names the file and its lines. REQUIRES: there is a --hba.
   static std::shared_ptr<const AccessFiles> read(const ServerOptions& options);

   /// For pg_hba_file_rules and pg_ident_file_mappings.
   std::vector<AccessRuleRow> ruleRows() const;
   std::vector<UserMapRow> mapRows() const;
};

/// The rules by which clients come in, shared by all connections: asked when a client comes, and read anew while the
/// server runs. Thread-safe.
class AccessRules {
public:
   /// Throws UsageError. Without --hba there are no rules.
   explicit AccessRules(const ServerOptions& options);

   /// Null: there is no --hba.
   std::shared_ptr<const AccessFiles> current() const EXCLUDES(mutex_);
   /// Read the files anew, for clients from now on. When they are wrong, the log says why and the old rules stay.
   void reload(const ServerOptions& options) EXCLUDES(mutex_);

private:
   mutable Mutex mutex_;
   std::shared_ptr<const AccessFiles> files_ GUARDED_BY(mutex_);
};

} // namespace ouzel::server
