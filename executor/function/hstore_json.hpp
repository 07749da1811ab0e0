#pragma once
#include <string>

#include "common/base_type/hstore.hpp"
#include "common/json/jsonb_writer.hpp"

// Maps as JSON objects: for the functions of hstore, and for to_json() and its kin, which cast a value to json where
// such a cast exists.

namespace ouzel::executor {

/// `isLoose`: values that look like numbers or booleans, t and f, become such; else they are strings.
void appendHstoreJson(std::string& out, const HstoreView& map, bool isLoose);
void writeHstoreJson(json::JsonbWriter& writer, const HstoreView& map, bool isLoose);

} // namespace ouzel::executor
