#pragma once
#include <arrow/array/array_base.h>
#include <arrow/type.h>
#include <memory>
#include <string>
#include <vector>

#include "common/memory/arena.hpp"
#include "io/format/external_table.hpp"

// Arrow's types and arrays as ours. Only for .cpp files of this folder.

namespace ouzel::io {

/// The SQL type an Arrow type is read as, or a type of any kind and the reason why it is not.
ExternalColumn mapColumn(const std::string& name, const arrow::DataType& type);

/// Turns slices of the arrays of one column into vectors. What needs no change is viewed, everything else converted
/// into a buffer of its own. Used by one thread.
class ColumnConverter {
public:
   /// `file` and `name` are for errors.
   ColumnConverter(const ExternalColumn& column, const std::string& file);

   /// Rows [offset, offset + count) of `array`, count <= batchRowsMax. Valid until the next call and as long as the
   /// array. Throws 22008 and 22003 for values that the SQL type does not have, 22021 for text that is not UTF-8.
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
   std::shared_ptr<arrow::Array> dictionary_; ///< that `words_` are the views of
   std::vector<StringView> words_;
};

} // namespace ouzel::io
