#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/core/session_core.hpp"
#include "engine/query/command_tag.hpp"

namespace ouzel::engine {

/// Writes to the log what the client's messages do, as log_statement, log_duration, log_min_duration_statement and
/// their kin ask, and tells the log which statement is at hand. Nothing is formatted while these settings ask for
/// nothing. Owned by SessionImpl; used by the session's thread.
///
///    begin() --announce()--> the statement runs --finish()--> "duration: ..."
///
/// A message that fails has no finish(): its error is logged with the statement.
class StatementLog {
public:
   explicit StatementLog(SessionCore& core);

   /// A message begins that runs this text. The text lives as long as `owner`, or, without one, until the message has
   /// been handled. `command` is static; empty: it is not known yet.
   void begin(std::string_view text, std::shared_ptr<const void> owner, std::string_view command);
   /// A further statement of the same message runs.
   void setCommand(std::string_view command);
   /// Whether log_statement wants a statement of this class.
   bool wants(StatementClass statement) const;
   /// Log the statement before it runs: "statement: ...", "execute <unnamed>: ...".
   void announce(std::string_view what, const std::string& detail = {});
   /// The message has been handled: log its duration if it is to be. `what` and `detail` return texts as for
   /// announce(), and are called if these are needed.
   template <typename What, typename Detail>
   void finish(What&& what, Detail&& detail) {
      if (core_.settings.version() != seenSettings_) refresh();
      if (!logsDurations_) return;
      const Duration duration = measure();
      if (!duration.isLogged) return;
      if (duration.hasStatement)
         write(duration, what(), detail());
      else
         write(duration, {}, {});
   }
   /// Whether parameters() or parametersOnError() may be called for the message that has begun.
   bool mayShowParameters() const { return logsDurations_ || parameterBytesOnError_ != 0; }

   /// "parameters: $1 = '42', $2 = NULL", as log_parameter_max_length allows; empty: nothing to tell.
   std::string parameters(std::span<const BoundParameter> parameters) const;
   /// The same for the context of an error, as log_parameter_max_length_on_error allows: without the first word.
   std::string parametersOnError(std::span<const BoundParameter> parameters) const;
   /// The text of one parameter for the context of an error, cut as that setting says.
   std::string quotedOnError(std::string_view text) const;
   /// "$1 = '42', $2 = NULL"; values are cut behind so many bytes (-1: they are not).
   std::string list(std::span<const BoundParameter> parameters, int64_t bytesMax) const;

private:
   struct Duration {
      bool isLogged = false, hasStatement = false;
      int64_t micros = 0;
   };
   void refresh();
   Duration measure();
   void write(const Duration& duration, const std::string& what, const std::string& detail);
   /// With a probability of `rate`.
   bool draws(double rate);

   SessionCore& core_;
   uint64_t seenSettings_ = UINT64_MAX; ///< Settings::version() of the values below
   // SETTINGS
   bool logsDuration_ = false;                 ///< log_duration
   bool logsDurations_ = false;                ///< any of the settings asks for durations
   int wanted_ = 3;                            ///< the lowest StatementClass that log_statement wants; 3: none
   int64_t durationMin_ = -1, sampleMin_ = -1; ///< milliseconds; -1: off
   double sampleRate_ = 1, transactionRate_ = 0;
   int64_t parameterBytesMax_ = -1, parameterBytesOnError_ = 0; ///< -1: all, 0: none
   // STATE
   int64_t startNanos_ = 0;                ///< of the message
   bool isAnnounced_ = false;              ///< the statement is in the log
   uint64_t transaction_ = 0;              ///< the transaction for which isSampled_ was drawn
   bool isSampled_ = false;                ///< by log_transaction_sample_rate
   std::optional<SessionRandom> sampling_; ///< made when it is first needed
};

} // namespace ouzel::engine
