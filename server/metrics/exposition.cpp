#include "server/metrics/exposition.hpp"

#include <cmath>
#include <fmt/format.h>

namespace ouzel::server {

Exposition& Exposition::family(std::string_view name, Type type, std::string_view help) {
   name_ = name;
   text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type == Type::Counter ? "counter" : "gauge");
   return *this;
}

Exposition& Exposition::sample(uint64_t value, Labels labels) {
   line(fmt::format("{}", value), labels);
   return *this;
}

Exposition& Exposition::sample(double value, Labels labels) {
   if (std::isnan(value))
      line("NaN", labels);
   else if (std::isinf(value))
      line(value > 0 ? "+Inf" : "-Inf", labels);
   else
      line(fmt::format("{}", value), labels); // the shortest text that reads back as the same number
   return *this;
}

void Exposition::line(std::string_view value, Labels labels) {
   text_ += name_;
   char before = '{';
   for (const auto& [label, content] : labels) {
      text_ += before;
      text_ += label;
      text_ += "=\"";
      for (const char c : content) {
         if (c == '\\' || c == '"') text_ += '\\';
         if (c == '\n')
            text_ += "\\n";
         else
            text_ += c;
      }
      text_ += '"';
      before = ',';
   }
   if (labels.size() != 0) text_ += '}';
   text_ += ' ';
   text_ += value;
   text_ += '\n';
}

} // namespace ouzel::server
