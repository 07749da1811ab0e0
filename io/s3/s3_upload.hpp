#pragma once
#include <span>
#include <string_view>

#include "io/object_store/object_store.hpp"
#include "io/s3/retriever.hpp"

namespace ouzel::io {

/// Put the concatenation of `parts`, in one request or, from 16 MiB on, in several at once. False when the condition
/// did not hold. REQUIRES: a valid name.
bool uploadObject(Retriever& retriever, std::string_view name, std::span<const std::string_view> parts,
                  const PutCondition& condition);

/// Call off an upload in parts; one that is over is fine.
void abortUpload(Retriever& retriever, std::string_view name, std::string_view uploadId);

} // namespace ouzel::io
