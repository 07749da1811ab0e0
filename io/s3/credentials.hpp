#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "common/sync/mutex.hpp"
#include "io/s3/signer.hpp"

namespace ouzel::io {

/// A source of credentials. Throws 42501 when there are none, 58030 when the service that issues them does not answer.
using CredentialsSource = std::function<Credentials()>;

/// Finds credentials in the environment, in the order of AWS's tools (as the SDK for Java 2.x documents it). May wait
/// for seconds. The places:
///  1. AWS_ACCESS_KEY_ID and its companions;
///  2. the role AWS_ROLE_ARN for the web identity in AWS_WEB_IDENTITY_TOKEN_FILE (STS at AWS_ENDPOINT_URL_STS,
///     AWS_ENDPOINT_URL, or AWS's in AWS_REGION);
///  3. the profile AWS_PROFILE (default) of the file AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials);
///  4. the container's role (AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI);
///  5. the instance's role (IMDSv2, unless AWS_EC2_METADATA_DISABLED=true).
Credentials findCredentials();

/// Parses a profile file's text; none when the profile has no keys.
std::optional<Credentials> parseProfile(std::string_view text, std::string_view profile);
/// Parses the JSON answer of the metadata services.
std::optional<Credentials> parseRoleCredentials(std::string_view json);

/// Holds credentials; its thread renews them before they expire. Thread-safe.
class CredentialsKeeper {
public:
   /// Fetches the first credentials on the caller's thread, and throws what `source` throws.
   explicit CredentialsKeeper(CredentialsSource source);
   ~CredentialsKeeper();
   CredentialsKeeper(const CredentialsKeeper&) = delete;
   CredentialsKeeper& operator=(const CredentialsKeeper&) = delete;

   struct Current {
      std::shared_ptr<const Credentials> credentials; ///< shared with the threads that are signing
      uint64_t version = 0;                           ///< number of answers of the source, good or not
   };
   /// The newest credentials. Never waits.
   Current current() const;
   /// Reports that the store refused the credentials of that version. The keeper asks the source again soon, which
   /// changes `current().version`.
   void refresh(uint64_t refusedVersion);
   /// Sets the function that the keeper's thread calls after each answer of the source. It must be short and must not
   /// use the keeper. After the return the previous function is not called any more.
   void onChange(std::function<void()> notify);

private:
   void run();
   int64_t nextRefresh() const REQUIRES(mutex_);

   const CredentialsSource source_;
   mutable Mutex mutex_;
   CondVar changed_;
   Current current_ GUARDED_BY(mutex_);
   std::function<void()> notify_ GUARDED_BY(mutex_);
   bool isAsked_ GUARDED_BY(mutex_) = false;
   bool isStopping_ GUARDED_BY(mutex_) = false;
   int failures_ GUARDED_BY(mutex_) = 0; ///< failures of the source in a row
   std::thread thread_;
};

} // namespace ouzel::io
