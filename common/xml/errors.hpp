#pragma once
#include <string>
#include <utility>

#include "common/error/sql_error.hpp"

struct _xmlError;

// What libxml2 finds wrong. libxml2 calls back; these functions note it, and the caller throws when libxml2 has
// returned.

namespace ouzel::xml {

/// What counts as an error: `WellFormed`, what the grammar of XML forbids; `All`, also wrong namespaces and paths.
enum class Strictness { WellFormed, All };

/// The errors of one use of libxml2, for one thread. While it lives, errors that libxml2 cannot assign to a parser or
/// to a path come here, too: the handler for these is the thread's own. libxml2 prints nothing.
class Errors {
public:
   explicit Errors(Strictness strictness);
   ~Errors();
   Errors(const Errors&) = delete;
   Errors& operator=(const Errors&) = delete;

   bool hasOccurred() const { return hasOccurred_; }
   /// Whether a path has done as much as it may at a time, which is not among the errors. Forgets it.
   bool takePause() { return std::exchange(isPaused_, false); }
   /// Throws what was noted as the DETAIL of an error.
   [[noreturn]] void raise(SqlState state, const std::string& message) const;
   /// xmlStructuredErrorFunc; `errors` is an Errors*.
   static void handle(void* errors, _xmlError* error);

private:
   void note(const _xmlError& error);

   const Strictness strictness_;
   bool hasOccurred_ = false, isPaused_ = false;
   std::string text_;
   void* outerTarget_ = nullptr; ///< of the thread, before
   void (*outerHandler_)(void*, _xmlError*) = nullptr;
   void* outerStream_ = nullptr;
   void (*outerPrinter_)(void*, const char*, ...) = nullptr;
};

} // namespace ouzel::xml
