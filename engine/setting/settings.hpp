#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/type/session_format.hpp"
#include "engine/setting/setting_name.hpp"
#include "engine/setting/setting_table.hpp"

namespace ouzel::engine {

/// One session's values of all settings. SET takes part in transactions: what a transaction that rolls back has set is
/// undone, and SET LOCAL ends with its transaction. Used by the session's thread only.
class Settings {
public:
   /// `defaults` are what RESET goes back to: the server's configuration.
   explicit Settings(const std::vector<std::pair<std::string, std::string>>& defaults);

   /// From the startup packet: also becomes what RESET goes back to.
   void setInitial(std::string_view name, std::string_view value);
   /// Throws 42704 (unknown), 22023 (bad value), 55P02 (cannot be changed now).
   void set(std::string_view name, std::string_view value, bool isLocal);
   void reset(std::string_view name);
   void resetAll();
   /// As SHOW prints it; throws 42704.
   std::string show(std::string_view name) const;
   /// Nothing when there is no such setting.
   std::optional<std::string> find(std::string_view name) const;
   /// Change a value that users cannot (is_superuser, transaction_isolation).
   void force(SettingName name, std::string value);

   /// Another number whenever a setting has changed that may change what a statement means or how it is planned.
   uint64_t version() const { return version_; }
   // Canonical values.
   bool boolean(SettingName name) const { return value(name) == "on"; }
   int64_t integer(SettingName name) const;
   const std::string& value(SettingName name) const { return values_[name.index()]; }
   const std::string& valueOf(std::string_view name) const; ///< throws 42704
   const SessionFormat& format() const { return format_; }
   /// The schemas of search_path, "$user" and quotes resolved.
   std::vector<std::string> searchPath(const std::string& user) const;

   void transactionBegins();
   void transactionEnds(bool committed);

   std::vector<std::pair<std::string, std::string>> reported() const;
   /// Reported settings that changed since the last call.
   std::vector<std::pair<std::string, std::string>> takeChanges();

   /// All of them with name, canonical value, for pg_settings.
   const std::vector<std::string>& values() const { return values_; }
   const std::map<std::string, std::string>& custom() const { return custom_; }

private:
   const SettingInfo& require(std::string_view name) const;
   void assign(const SettingInfo& info, std::string canonical);
   /// Throws 22023 when a session wants more memory than the server has, or commits kept by a log that it has not.
   void checkAgainstServer(const SettingInfo& info, const std::string& canonical) const;
   void changed();
   void updateFormat();

   std::vector<std::string> values_, resetValues_, reportedValues_; // by SettingInfo::index
   std::map<std::string, std::string> custom_;                      // "extension.name" settings nobody defined
   SessionFormat format_;
   int64_t memoryLimitMax_ = 0; ///< MB, the server's
   bool keepsLog_ = true;       ///< the server
   uint64_t version_ = 0, takenVersion_ = 0;
   struct Undo {
      std::vector<std::string> values;
      std::map<std::string, std::string> custom;
   };
   bool inTransaction_ = false;
   std::optional<Undo> atStart_;                 // made by the first change in a transaction
   std::map<uint32_t, std::string> afterCommit_; // what SET LOCAL hides, by index
};

} // namespace ouzel::engine
