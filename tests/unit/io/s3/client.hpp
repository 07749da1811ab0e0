#pragma once
// Options and error texts for tests of the S3 client.
#include <functional>
#include <string>

#include "common/error/sql_error.hpp"
#include "io/s3/credentials.hpp"
#include "io/s3/retriever.hpp"

inline ouzel::io::Credentials anybody() {
   return {"key", "secret", "", 0};
}

/// Options with short pauses between attempts. Time-outs are the defaults: a test's machine may be slow.
inline ouzel::io::RetrieverOptions eager() {
   ouzel::io::RetrieverOptions options;
   options.backoffMs = 2;
   options.backoffMsMax = 20;
   options.attemptsMax = 12;
   return options;
}

/// SQLSTATE and message of the error that the action throws; empty if it throws none.
inline std::string failureOf(const std::function<void()>& action) {
   try {
      action();
      return "";
   } catch (const ouzel::SqlError& error) {
      return std::string(error.state().text()) + " " + error.what();
   }
}
