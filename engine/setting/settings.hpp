#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/text/encoding.hpp"
#include "common/type/session_format.hpp"
#include "engine/setting/setting_name.hpp"
#include "engine/setting/setting_table.hpp"

namespace ouzel::engine {

/// Names and values, as a configuration gives them.
using SettingList = std::vector<std::pair<std::string, std::string>>;

/// One session's values of all settings. SET takes part in transactions: a rollback undoes the SETs of its transaction,
/// or those since the savepoint that it returns to, and SET LOCAL ends with its transaction. Used by the session's
/// thread only.
class Settings {
public:
   /// `defaults`: values of the server's configuration, to which RESET returns.
   explicit Settings(const SettingList& defaults);
   /// The configuration was read again: what neither the client nor the session has set follows it. REQUIRES: no
   /// transaction.
   void adoptDefaults(const SettingList& before, const SettingList& now);

   /// Throws what set() would throw, and changes nothing. Without a value: what is wrong with the name.
   void check(std::string_view name, const std::optional<std::string>& value) const;
   /// Set a value from the startup packet, or of ALTER ROLE or DATABASE ... SET; RESET returns to it.
   void setInitial(std::string_view name, std::string_view value);
   /// Throws 42704 (unknown), 22023 (bad value), 55P02 (cannot be changed now).
   void set(std::string_view name, std::string_view value, bool isLocal);
   void reset(std::string_view name);
   void resetAll();
   /// As SHOW prints it; throws 42704.
   std::string show(std::string_view name) const;
   /// nullopt when there is no setting of this name.
   std::optional<std::string> find(std::string_view name) const;
   /// Change a value that users cannot (is_superuser, transaction_isolation).
   void force(SettingName name, std::string value);

   /// Changes whenever a setting changes that may affect the meaning or the plan of a statement.
   uint64_t version() const { return version_; }
   // Canonical values.
   bool boolean(SettingName name) const { return value(name) == "on"; }
   int64_t integer(SettingName name) const;
   const std::string& value(SettingName name) const { return values_[name.index()]; }
   const std::string& resetValue(SettingName name) const { return resetValues_[name.index()]; } ///< what RESET gives
   const std::string& valueOf(std::string_view name) const;                                     ///< throws 42704
   const SessionFormat& format() const { return format_; }
   CharacterEncoding clientEncoding() const { return clientEncoding_; }
   /// The schemas of search_path, "$user" and quotes resolved.
   std::vector<std::string> searchPath(const std::string& user) const;

   void transactionBegins();
   void transactionEnds(bool committed);
   // Savepoints of the transaction have numbers from 0. The later two functions also forget those after `number`.
   void savepoint() { levels_.emplace_back(); }
   void releaseSavepoint(size_t number);
   void rollbackToSavepoint(size_t number);
   /// A failed transaction block is back where its last savepoint was made, or where it began.
   void transactionFails();

   std::vector<std::pair<std::string, std::string>> reported() const;
   /// Reported settings that changed since the last call.
   std::vector<std::pair<std::string, std::string>> takeChanges();

   /// Canonical values of all settings by SettingInfo::index, for pg_settings.
   const std::vector<std::string>& values() const { return values_; }
   const std::map<std::string, std::string>& custom() const { return custom_; }

private:
   const SettingInfo& require(std::string_view name) const;
   /// Whether the name is one of another's settings, which exist by being set: "extension.name".
   static bool isCustom(std::string_view name);
   void assign(const SettingInfo& info, std::string canonical);
   /// Throws 22023 for a memory_limit above the server's, and for ouzel.commit = log on a server without a log.
   void checkAgainstServer(const SettingInfo& info, const std::string& canonical) const;
   void changed();
   void updateFormat();

   std::vector<std::string> values_, resetValues_, reportedValues_; // by SettingInfo::index
   std::map<std::string, std::string> custom_, resetCustom_;        // "extension.name" settings that no table has
   SessionFormat format_;
   CharacterEncoding clientEncoding_ = CharacterEncoding::Utf8;
   int64_t memoryLimitMax_ = 0; ///< MB; the server's memory_limit
   bool keepsLog_ = true;       ///< the server has a log that outlives it
   uint64_t version_ = 0, takenVersion_ = 0;
   /// Values that SET LOCAL hides and the commit restores.
   struct Hidden {
      std::map<uint32_t, std::string> values; ///< by SettingInfo::index
      std::map<std::string, std::optional<std::string>> custom;
   };
   struct State {
      std::vector<std::string> values;
      std::map<std::string, std::string> custom;
      Hidden hidden;
   };
   /// Keeps the state for a rollback. Precedes each change.
   void remember();
   void restore(State&& state);
   /// Forgets the levels from this one on. Returns the state that the first of them began with; nullopt: it is the
   /// same.
   std::optional<State> endLevels(size_t from);

   Hidden hidden_;
   /// The state at the start of the transaction, then at each savepoint; nullopt: nothing has changed at this level. No
   /// levels outside a transaction.
   std::vector<std::optional<State>> levels_;
};

} // namespace ouzel::engine
