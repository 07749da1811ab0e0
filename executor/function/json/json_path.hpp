#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/json/json_parser.hpp"

namespace ouzel::executor {

/// Finds the value at a path in JSON text while the text is parsed. As in PostgreSQL, the last of several members with
/// the same key wins, the whole text is read, and a negative subscript is resolved at the first array of its level.
class JsonPathFinder {
public:
   static constexpr bool decodesStrings = true;
   /// One step of a path: a key, a subscript or a text that may be either.
   struct Step {
      std::optional<std::string> key;
      std::optional<int32_t> index;
   };
   /// `wantsPlain`: strings without quotes and escapes, and no JSON nulls.
   JsonPathFinder(std::string_view text, std::vector<Step> path, bool wantsPlain);

   /// The value, as it stands in the text unless it is a plain string; nothing if there is none. Valid as long as this
   /// and the text.
   std::optional<std::string_view> find();

   // ---- events of the parser ----
   void beginObject(size_t at) { begin(at, true); }
   void endObject(size_t end) { finish(end); }
   void beginArray(size_t at) { begin(at, false); }
   void endArray(size_t end) { finish(end); }
   void key(std::string_view text);
   void scalar(json::Token token, std::string_view value, size_t at, size_t end);

private:
   struct Level {
      bool isObject = false;
      bool isOnPath = false; ///< the container of this level is what the first steps lead to
      bool isMatch = false;  ///< of an object: the key that was read is the step's
      int64_t elements = 0;  ///< of an array: how many began
   };
   void begin(size_t at, bool isObject);
   void finish(size_t end);
   /// Whether the value that begins is what the path's first steps lead to.
   bool isNextOnPath();

   const std::string_view text_;
   std::vector<Step> path_;
   const bool wantsPlain_;
   std::vector<Level> levels_;                       ///< of the containers around, but no more than the path has steps
   size_t depth_ = 0;                                ///< containers around
   size_t wantedDepth_ = SIZE_MAX, wantedStart_ = 0; ///< of the container that is the value
   std::optional<std::string_view> found_;
   std::string plain_;
};

} // namespace ouzel::executor
