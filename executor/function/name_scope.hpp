#pragma once
#include "catalog/pg_catalog/functions.hpp"
#include "executor/function/context.hpp"

namespace ouzel::executor {

/// Looks up names for the running session: catalog snapshot, search path, role. Throws XX000 without a catalog.
class NameScope {
public:
   explicit NameScope(const FunctionContext& context);
   const catalog::NameContext& names() const { return names_; }
   const catalog::Snapshot& snapshot() const { return names_.snapshot; }

private:
   catalog::SearchPath path_;
   catalog::NameContext names_;
};

} // namespace ouzel::executor
