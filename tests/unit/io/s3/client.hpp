#pragma once
// How tests of the S3 client ask, and what went wrong.
#include <functional>
#include <string>

#include "common/error/sql_error.hpp"
#include "io/s3/credentials.hpp"
#include "io/s3/retriever.hpp"

inline ouzel::io::Credentials anybody() {
   return {"key", "secret", "", 0};
}

/// Tries again at once. How long it waits for an answer is as ever: a test's machine may be slow.
inline ouzel::io::RetrieverOptions eager() {
   ouzel::io::RetrieverOptions options;
   options.backoffMs = 2;
   options.backoffMsMax = 20;
   options.attemptsMax = 12;
   return options;
}

/// SQLSTATE and message of what the action throws; empty if it does not.
inline std::string failureOf(const std::function<void()>& action) {
   try {
      action();
      return "";
   } catch (const ouzel::SqlError& error) {
      return std::string(error.state().text()) + " " + error.what();
   }
}
