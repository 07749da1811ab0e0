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

/// Where credentials come from. Throws 42501 when there are none, 58030 when the service that has them does not answer.
using CredentialsSource = std::function<Credentials()>;

/// What the environment offers, in the order of AWS's tools (as the SDK for Java 2.x documents it): AWS_ACCESS_KEY_ID
/// and its companions; the role AWS_ROLE_ARN for the web identity in AWS_WEB_IDENTITY_TOKEN_FILE (STS at
/// AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL, or AWS's in AWS_REGION); the profile AWS_PROFILE (default) of the file
/// AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials); the container's role (AWS_CONTAINER_CREDENTIALS_FULL_URI or
/// _RELATIVE_URI); the instance's role (IMDSv2, unless AWS_EC2_METADATA_DISABLED=true). May wait for seconds.
Credentials findCredentials();

/// Of a profile file's text; nothing when the profile has no keys.
std::optional<Credentials> parseProfile(std::string_view text, std::string_view profile);
/// Of the JSON that the metadata services answer with.
std::optional<Credentials> parseRoleCredentials(std::string_view json);

/// Credentials that are renewed before they expire, by a thread of their own. Thread-safe.
class CredentialsKeeper {
public:
   /// Fetches the first ones on the caller's thread, so it throws what `source` throws.
   explicit CredentialsKeeper(CredentialsSource source);
   ~CredentialsKeeper();
   CredentialsKeeper(const CredentialsKeeper&) = delete;
   CredentialsKeeper& operator=(const CredentialsKeeper&) = delete;

   struct Current {
      std::shared_ptr<const Credentials> credentials; ///< shared with whoever signs with them just now
      uint64_t version = 0;                           ///< counts the answers of the source, good or not
   };
   /// Never waits.
   Current current() const;
   /// The credentials of that version were refused: ask the source again, soon. `current().version` will be another
   /// then.
   void refresh(uint64_t refusedVersion);
   /// Called after each answer of the source, by the keeper's thread; must be short and not use the keeper. Not called
   /// any more once another (or none) was set.
   void onChange(std::function<void()> notify);

private:
   void run();
   int64_t nextRefresh() const REQUIRES(mutex_);

   const CredentialsSource source_;
   mutable Mutex mutex_;
   CondVar changed_;
   Current current_ GUARDED_BY(mutex_); // under mutex_, as all that follows
   std::function<void()> notify_ GUARDED_BY(mutex_);
   bool isAsked_ GUARDED_BY(mutex_) = false;
   bool isStopping_ GUARDED_BY(mutex_) = false;
   int failures_ GUARDED_BY(mutex_) = 0; ///< of the source since it last answered
   std::thread thread_;
};

} // namespace ouzel::io
