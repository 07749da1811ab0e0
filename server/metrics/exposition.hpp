#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace ouzel::server {

/// Writes metrics as Prometheus reads them (text format 0.0.4): families, each with its samples behind it.
class Exposition {
public:
   enum class Type : uint8_t { Counter, Gauge };
   using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

   /// Begin a family: the samples that follow belong to it. Names of counters end in _total. `help` is one line of
   /// ASCII.
   Exposition& family(std::string_view name, Type type, std::string_view help);
   Exposition& sample(uint64_t value, Labels labels = {});
   Exposition& sample(double value, Labels labels = {});

   const std::string& text() const { return text_; }

private:
   void line(std::string_view value, Labels labels);

   std::string text_, name_;
};

} // namespace ouzel::server
