#include "executor/function/jsonpath/path_item.hpp"

#include <string>

#include "common/calendar/calendar.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/date_time.hpp"

namespace ouzel::executor {

namespace {

/// A point in time as JSON has it: ISO 8601, with the time zone that its text had.
std::string isoText(const DateTimeValue& v) {
   std::string text;
   const auto zone = [&text, &v] {
      const int32_t east = -v.zone, minutes = (east < 0 ? -east : east) / 60;
      char digits[8] = {east < 0 ? '-' : '+'};
      digits[1] = static_cast<char>('0' + minutes / 600);
      digits[2] = static_cast<char>('0' + minutes / 60 % 10);
      digits[3] = ':';
      digits[4] = static_cast<char>('0' + minutes % 60 / 10);
      digits[5] = static_cast<char>('0' + minutes % 10);
      text += digits;
   };
   switch (v.type) {
   case oid::date: appendDate(text, static_cast<int32_t>(v.value), SessionFormat()); return text;
   case oid::time: appendTime(text, v.value); return text;
   case oid::timetz:
      appendTime(text, v.value);
      zone();
      return text;
   default: break;
   }
   const int64_t local = v.value - v.zone * microsPerSecond;
   const int64_t days = floorDivide(local, microsPerDay), time = local - days * microsPerDay;
   appendDate(text, static_cast<int32_t>(days), SessionFormat());
   constexpr std::string_view beforeChrist = " BC";
   const bool isBeforeChrist = text.ends_with(beforeChrist);
   if (isBeforeChrist) text.resize(text.size() - beforeChrist.size());
   text += 'T';
   appendTime(text, time);
   if (v.type == oid::timestamptz) zone();
   if (isBeforeChrist) text += beforeChrist;
   return text;
}

} // namespace

const json::JsonbView& PathItem::nullView() {
   static const json::JsonbView view(std::string_view("\0", 1));
   return view;
}

void PathItem::write(json::JsonbWriter& writer) const {
   if (isInPlace_) return writer.value(view_);
   switch (kind_) {
   case Kind::Null: return writer.null();
   case Kind::Boolean: return writer.boolean(boolean_);
   case Kind::Number: return writer.number(number_);
   case Kind::String: return writer.string(text_);
   case Kind::DateTime: return writer.string(isoText(dateTime_));
   default: throwInternal("container that a path made");
   }
}

void PathItems::grow() {
   const uint32_t capacity = capacity_ * 4;
   auto* items = static_cast<PathItem*>(arena_.allocate(size_t{capacity} * sizeof(PathItem), alignof(PathItem)));
   std::memcpy(static_cast<void*>(items), items_, size_ * sizeof(PathItem));
   items_ = items;
   capacity_ = capacity;
}

void PathItems::replaceBy(const PathItems& other) {
   clear();
   for (const PathItem& item : other)
      add(item);
}

} // namespace ouzel::executor
