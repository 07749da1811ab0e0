#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/value/sql_type.hpp"

namespace ouzel::catalog {
class Snapshot;
}

namespace ouzel::executor {

/// Calls from the lo_ functions to the session that runs the statement. Only the session's thread may make them: the
/// binder has plans that do run on it. Throw 42704 for objects and descriptors that do not exist, 42501 for objects
/// that the role may not use.
class LargeObjectFunctions {
public:
   virtual ~LargeObjectFunctions() = default;

   /// invalidOid: the server chooses the OID. Throws 23505.
   virtual Oid create(Oid wanted) = 0;
   virtual void unlink(Oid object) = 0;

   // Descriptors, which the transaction's end closes. `statement`: the catalog as the statement sees it, which a
   // descriptor that only reads goes on seeing.
   virtual int32_t open(Oid object, int32_t mode, const catalog::Snapshot& statement) = 0;
   virtual void close(int32_t descriptor) = 0;
   virtual std::string read(int32_t descriptor, int32_t count) = 0;
   virtual int32_t write(int32_t descriptor, std::string_view bytes) = 0;
   /// As lseek() of POSIX: `whence` 0 from the start, 1 from the present position, 2 from the end.
   virtual int64_t seek(int32_t descriptor, int64_t offset, int32_t whence) = 0;
   virtual int64_t tell(int32_t descriptor) = 0;
   virtual void truncate(int32_t descriptor, int64_t size) = 0;

   // Whole objects and parts of them.
   /// `count` none: up to the end.
   virtual std::string get(Oid object, int64_t offset, std::optional<int32_t> count,
                           const catalog::Snapshot& statement) = 0;
   virtual void put(Oid object, int64_t offset, std::string_view bytes) = 0;
   // Files of the server. Throw 42501 unless a superuser calls.
   virtual Oid importFile(const std::string& path, Oid wanted) = 0;
   virtual void exportFile(Oid object, const std::string& path, const catalog::Snapshot& statement) = 0;
};

} // namespace ouzel::executor
