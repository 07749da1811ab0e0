#include "executor/function/system/server_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "common/text/utf8.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// pg_read_file() and pg_read_binary_file(): files of the server's machine, for those who may.

namespace ouzel::executor {

void throwFileError(const char* action, const std::string& path, int error) {
   const auto& state = error == ENOENT || error == ENOTDIR ? sqlstate::undefinedFile
                       : error == EACCES || error == EPERM ? sqlstate::insufficientPrivilege
                       : error == EISDIR                   ? sqlstate::wrongObjectType
                                                           : sqlstate::ioError;
   std::string text = action;
   text.replace(text.find('%'), 1, "\"" + path + "\"");
   throw SqlError(state, text + ": " + std::strerror(error));
}

namespace {

constexpr int64_t wholeFile = -1;
/// The largest value of a type of varying length.
constexpr int64_t bytesMax = 0x3ffffff0;

struct FileCloser {
   void operator()(FILE* file) const { std::fclose(file); }
};

/// Bytes of a file from an offset, which counts from the end if it is negative. None: there is no such file, which is
/// allowed.
template <bool isText>
std::optional<std::string> readFile(const StringView& name, int64_t offset, int64_t length, bool missingOk,
                                    KernelEnv& env) {
   const std::string shown(name.view());
   SessionFunctions& session = env.context.requireSession("pg_read_file");
   const std::string path = session.serverFile(shown);
   const std::unique_ptr<FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
   if (!file) {
      if (missingOk && errno == ENOENT) return std::nullopt;
      throwFileError("could not open file % for reading", shown, errno);
   }
   if (std::fseek(file.get(), offset, offset < 0 ? SEEK_END : SEEK_SET) != 0) {
      if (offset >= 0 || errno != EINVAL) throwFileError("could not seek in file %", shown, errno);
      std::rewind(file.get()); // there are fewer bytes
   }
   std::string bytes;
   const int64_t wanted = length == wholeFile ? bytesMax + 1 : length;
   char buffer[1 << 16];
   while (static_cast<int64_t>(bytes.size()) < wanted) {
      const size_t size = std::min<size_t>(sizeof buffer, static_cast<size_t>(wanted) - bytes.size());
      const size_t got = std::fread(buffer, 1, size, file.get());
      bytes.append(buffer, got);
      if (got < size) break;
   }
   if (std::ferror(file.get())) throwFileError("could not read file %", shown, errno);
   if (static_cast<int64_t>(bytes.size()) > bytesMax)
      throw SqlError(sqlstate::programLimitExceeded, "file length too large");
   return bytes;
}

template <bool isText>
std::optional<StringView> give(const std::optional<std::string>& bytes, KernelEnv& env) {
   if (!bytes) return std::nullopt;
   if (isText) checkUtf8(*bytes);
   return env.copy(*bytes);
}

template <bool isText>
std::optional<StringView> readPart(const StringView& name, int64_t offset, int64_t length, bool missingOk,
                                   KernelEnv& env) {
   if (length < 0) throw SqlError(sqlstate::invalidParameterValue, "requested length cannot be negative");
   return give<isText>(readFile<isText>(name, offset, length, missingOk, env), env);
}
template <bool isText>
std::optional<StringView> readRange(const StringView& name, int64_t offset, int64_t length, KernelEnv& env) {
   return readPart<isText>(name, offset, length, false, env);
}
template <bool isText>
std::optional<StringView> readAll(const StringView& name, KernelEnv& env) {
   return give<isText>(readFile<isText>(name, 0, wholeFile, false, env), env);
}

} // namespace

void registerServerFiles() {
   addKernel<readAll<true>>("pg_read_file_all");
   addKernel<readRange<true>>("pg_read_file_off_len");
   addKernel<readPart<true>>("pg_read_file_v2");
   addKernel<readRange<true>>("pg_read_file");
   addKernel<readAll<false>>("pg_read_binary_file_all");
   addKernel<readRange<false>>("pg_read_binary_file_off_len");
   addKernel<readPart<false>>("pg_read_binary_file");
}

} // namespace ouzel::executor
