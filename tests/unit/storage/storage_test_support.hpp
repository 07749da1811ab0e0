#pragma once
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/value/batch.hpp"
#include "common/value/value.hpp"

namespace ouzel::storage::test {

/// A new directory, removed by the destructor.
class TemporaryDirectory {
public:
   TemporaryDirectory() {
      std::string path = (std::filesystem::temp_directory_path() / "ouzel-test-XXXXXX").string();
      path_ = ::mkdtemp(path.data());
   }
   ~TemporaryDirectory() {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
   }
   const std::string& path() const { return path_; }

private:
   std::string path_;
};

/// Flat values of one column, with their memory.
struct TestColumn {
   PhysicalType type;
   std::vector<Value> values;
};

/// Makes a dense batch in `arena` of at most 2,048 rows from `first` on.
inline Batch makeBatch(const std::vector<TestColumn>& columns, size_t first, size_t count, Arena& arena) {
   Batch batch;
   for (const TestColumn& column : columns) {
      const uint32_t size = physicalSize(column.type);
      auto* data = static_cast<char*>(arena.allocate(std::max<size_t>(size * count, 1), 64));
      std::memset(data, 0, size * count);
      ValidityWord* validity = nullptr;
      for (size_t i = 0; i < count; ++i) {
         const Value& value = column.values[first + i];
         if (value.isNull) {
            if (!validity) {
               validity = arena.allocateArray<ValidityWord>(validityWords(static_cast<uint32_t>(count)));
               std::memset(validity, 0xff, validityWords(static_cast<uint32_t>(count)) * 8);
            }
            setValidBit(validity, static_cast<uint32_t>(i), false);
         } else if (isVariableSize(column.type)) {
            const StringView copy = arena.copyString(value.bytes);
            std::memcpy(data + i * size, &copy, size);
         } else {
            value.store(data + i * size);
         }
      }
      batch.columns.push_back(Vector::flat(column.type, data, validity));
   }
   batch.setDense(static_cast<uint32_t>(count));
   return batch;
}

} // namespace ouzel::storage::test
