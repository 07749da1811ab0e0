#pragma once
#include "common/base_type/type_form.hpp"

// money: cents as a 64-bit integer. Texts are those of lc_monetary = C, the only one there is: "-$1,234.50".

namespace ouzel {

extern const TypeForm moneyForm;

/// cash_words(): "One hundred twenty three dollars and forty five cents".
std::string moneyInWords(int64_t cents);

} // namespace ouzel
