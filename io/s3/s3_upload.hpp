#pragma once
#include <span>
#include <string_view>

#include "io/object_store/object_store.hpp"
#include "io/s3/retriever.hpp"

namespace ouzel::io {

/// Puts the concatenation of `parts`: in one request, or in several at once from 16 MiB on. False: the condition did
/// not hold. REQUIRES: a valid name.
bool uploadObject(Retriever& retriever, std::string_view name, std::span<const std::string_view> parts,
                  const PutCondition& condition);

/// Aborts an upload in parts. An upload that is over is no error.
void abortUpload(Retriever& retriever, std::string_view name, std::string_view uploadId);

} // namespace ouzel::io
