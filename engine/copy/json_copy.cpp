#include "engine/copy/json_copy.hpp"

#include <algorithm>

#include "common/json/jsonb_text.hpp"
#include "executor/function/json/json_value.hpp"

namespace ouzel::engine {

void JsonCopyWriter::begin(const std::vector<ResultColumn>& columns) {
   if (columns_) return;
   columns_ = &columns;
   for (const ResultColumn& column : columns) {
      std::string& before = beforeValue_.emplace_back(beforeValue_.empty() ? "{" : ",");
      json::appendQuoted(before, column.name);
      before += ':';
      const Oid type = column.type.oid;
      hasJson_ = hasJson_ || type == oid::json || type == oid::record || arrayElementType(type) == oid::json;
   }
   if (isArray_) putLine("[\n");
}

void JsonCopyWriter::rows(const Batch& batch) {
   const uint32_t count = batch.liveRows();
   out_.clear();
   ends_.resize(count);
   for (uint32_t i = 0; i < count; ++i) {
      appendRow(batch, batch.selection.row(i));
      ends_[i] = static_cast<uint32_t>(out_.size());
   }
   write_(out_, ends_);
   progress_.bytes += out_.size();
   progress_.tuples += count;
}

void JsonCopyWriter::appendRow(const Batch& batch, uint32_t row) {
   if (isArray_) out_ += std::exchange(isFirst_, false) ? ' ' : ',';
   const size_t start = out_.size();
   if (columns_->empty()) out_ += '{';
   for (size_t i = 0; i < columns_->size(); ++i) {
      out_ += beforeValue_[i];
      const Vector& values = batch.columns[i];
      const ResultColumn& column = (*columns_)[i];
      if (values.isNull(row))
         out_ += "null";
      else
         executor::appendJson(out_, executor::valueAt(functions_, column.type, column.representation, values, row));
   }
   out_ += '}';
   // A json value is as it was written. Between its tokens a line break is a blank, and in a string it cannot stand; so
   // the row stays one line.
   if (hasJson_)
      std::replace_if(
          out_.begin() + static_cast<ptrdiff_t>(start), out_.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
   out_ += '\n';
}

void JsonCopyWriter::finish() {
   if (isArray_) putLine("]\n");
}

void JsonCopyWriter::putLine(std::string_view line) {
   const auto end = static_cast<uint32_t>(line.size());
   write_(line, std::span(&end, 1));
   progress_.bytes += line.size();
}

} // namespace ouzel::engine
