#pragma once
#include <exception>
#include <string>
#include <utility>

namespace ouzel::server {

/// The command line is invalid or a value is wrong. Exit status 2.
class UsageError : public std::exception {
public:
   explicit UsageError(std::string message) : message_(std::move(message)) {}
   const char* what() const noexcept override { return message_.c_str(); }

private:
   std::string message_;
};

} // namespace ouzel::server
