#include "executor/function/json/json_path.hpp"

#include <utility>

namespace ouzel::executor {

namespace {

/// Elements of the array that begins at `at`. The text was found valid when it became json.
int64_t countElements(std::string_view text, size_t at) {
   json::Lexer lexer(text.substr(at), false);
   int64_t commas = 0;
   uint32_t depth = 0;
   bool isEmpty = true;
   do {
      lexer.next();
      switch (lexer.token()) {
      case json::Token::ObjectStart:
      case json::Token::ArrayStart:
         isEmpty &= depth == 0;
         ++depth;
         break;
      case json::Token::ObjectEnd:
      case json::Token::ArrayEnd: --depth; break;
      case json::Token::Comma: commas += depth == 1; break;
      case json::Token::End: return commas;
      default: isEmpty = false; break;
      }
   } while (depth != 0);
   return isEmpty ? 0 : commas + 1;
}

} // namespace

JsonPathFinder::JsonPathFinder(std::string_view text, std::vector<Step> path, bool wantsPlain)
   : text_(text), path_(std::move(path)), wantsPlain_(wantsPlain), levels_(path_.size()) {}

std::optional<std::string_view> JsonPathFinder::find() {
   json::parse(text_, *this);
   return found_;
}

bool JsonPathFinder::isNextOnPath() {
   if (depth_ == 0) return true;
   if (depth_ > path_.size()) return false;
   Level& level = levels_[depth_ - 1];
   if (!level.isObject) {
      const int64_t index = level.elements++;
      return level.isOnPath && path_[depth_ - 1].index == index;
   }
   return level.isOnPath && level.isMatch;
}

void JsonPathFinder::begin(size_t at, bool isObject) {
   const bool isOnPath = isNextOnPath();
   if (isOnPath && depth_ == path_.size()) {
      found_.reset(); // this value overrides that of an equal key before
      wantedDepth_ = depth_;
      wantedStart_ = at;
   }
   if (depth_ < path_.size()) {
      levels_[depth_] = {isObject, isOnPath, false, 0};
      std::optional<int32_t>& index = path_[depth_].index;
      if (!isObject && index && *index < 0) {
         const int64_t count = countElements(text_, at);
         if (-int64_t{*index} <= count) *index = static_cast<int32_t>(*index + count);
      }
   }
   ++depth_;
}

void JsonPathFinder::finish(size_t end) {
   if (--depth_ != wantedDepth_) return;
   found_ = text_.substr(wantedStart_, end - wantedStart_);
   wantedDepth_ = SIZE_MAX;
}

void JsonPathFinder::key(std::string_view text) {
   if (depth_ <= path_.size()) levels_[depth_ - 1].isMatch = path_[depth_ - 1].key == text;
}

void JsonPathFinder::scalar(json::Token token, std::string_view value, size_t at, size_t end) {
   if (!isNextOnPath() || depth_ != path_.size()) return;
   found_.reset();
   if (wantsPlain_ && token == json::Token::Null) return;
   if (wantsPlain_ && token == json::Token::String) {
      plain_ = value;
      found_ = plain_;
      return;
   }
   // PostgreSQL keeps the blanks before a scalar that is the whole text.
   const size_t from = path_.empty() ? 0 : at;
   found_ = text_.substr(from, end - from);
}

} // namespace ouzel::executor
