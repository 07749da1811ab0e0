#pragma once
#include <arrow/array/array_base.h>
#include <arrow/type.h>
#include <memory>
#include <string>
#include <vector>

#include "common/memory/arena.hpp"
#include "io/format/external_table.hpp"

// Converts Arrow's types and arrays to SqlType and Vector. Only for .cpp files of this folder.

namespace ouzel::io {

/// The SQL type as which an Arrow type is read. For an unsupported type, `problem` tells why, and the SQL type is
/// arbitrary.
ExternalColumn mapColumn(const std::string& name, const arrow::DataType& type);

/// Turns slices of one column's arrays into vectors. Values with the same layout are viewed in place, others are
/// converted into the converter's buffer. Used by one thread.
class ColumnConverter {
public:
   /// `file` and `name` are for errors.
   ColumnConverter(const ExternalColumn& column, const std::string& file);

   /// The rows [offset, offset + count) of `array`, count <= batchRowsMax. The vector is valid until the next call and
   /// as long as the array. Throws 22008 and 22003 for values outside the SQL type's range, 22021 for text that is not
   /// UTF-8.
   Vector convert(const arrow::Array& array, int64_t offset, uint32_t count);

private:
   struct Slice;
   template <typename Source, typename Target, typename Change>
   const void* change(const Slice& slice, const Source* values, Change&& make);
   const void* data(const Slice& slice);
   const void* integers(const Slice& slice);
   const void* decimals(const Slice& slice);
   const void* days(const Slice& slice);
   const void* times(const Slice& slice);
   const void* texts(const Slice& slice);
   template <typename Array>
   const void* views(const Slice& slice, const Array& array);
   const void* words(const Slice& slice);
   const void* uuids(const Slice& slice);
   [[noreturn]] void outOfRange(const char* what) const;
   void checkText(const StringView* texts, size_t count) const;
   template <typename T>
   T* room() {
      return reinterpret_cast<T*>(buffer_.data());
   }

   struct alignas(16) Place {
      std::byte bytes[16];
   };
   const SqlType type_;
   const Representation representation_;
   const std::string name_, file_;
   std::vector<Place> buffer_;
   std::vector<ValidityWord> validity_;
   std::shared_ptr<arrow::Array> dictionary_; ///< the dictionary that `words_` views
   std::vector<StringView> words_;
};

} // namespace ouzel::io
