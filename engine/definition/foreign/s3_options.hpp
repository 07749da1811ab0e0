#pragma once
#include "catalog/object/foreign/foreign_wrapper.hpp"

namespace ouzel::engine {

/// What the wrapper s3 demands of the options of its servers and user mappings: a place in an object store, and keys.
/// Throws HV00D, HV00J, 22023. `catalog`: of the object that has the options.
void checkS3Options(Oid catalog, const catalog::ForeignOptions& options);

} // namespace ouzel::engine
