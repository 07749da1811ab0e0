#include "executor/function/json/json_items.hpp"

namespace ouzel::executor {

JsonItems::JsonItems(std::string_view text) : text_(text) {
   json::parse(text, *this);
}

const JsonItem* JsonItems::find(std::string_view key) const {
   for (size_t i = items_.size(); i-- > 0;)
      if (items_[i].key == key) return &items_[i];
   return nullptr;
}

void JsonItems::begin(json::Token token, size_t at) {
   if (depth_ == 0) root_ = token;
   if (depth_ == 1) {
      items_.push_back({key_, token, {}, {}});
      start_ = at;
   }
   ++depth_;
}

void JsonItems::finish(size_t end) {
   if (--depth_ == 1) items_.back().raw = text_.substr(start_, end - start_);
}

void JsonItems::scalar(json::Token token, std::string_view text, size_t at, size_t end) {
   if (depth_ == 0) root_ = token;
   if (depth_ != 1) return;
   items_.push_back({key_, token, text_.substr(at, end - at), {}});
   if (token == json::Token::String) items_.back().text = text;
}

} // namespace ouzel::executor
