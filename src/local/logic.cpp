#include <serried/logic.hpp>

#include <serried/error.hpp>

#include <fmt/format.h>

#include <cstddef>

namespace serried::inline v0 {

expr select(const std::vector<expr>& conditions, const std::vector<expr>& choices, const scalar& otherwise) {
  if (conditions.size() != choices.size() || conditions.empty())
    throw value_error(fmt::format("select: {} conditions and {} choices; as many of each are needed, at least one",
                                  conditions.size(), choices.size()));
  dtype type = choices.front().dtype();
  for (const expr& e : choices) type = promote(type, e.dtype());
  type = otherwise.beside(type);
  for (const expr& e : conditions)
    if (!is_bool(e.dtype())) throw dtype_error(fmt::format("select: a condition is {}, not bool", name(e.dtype())));

  expr result = where(conditions.back(), choices.back().astype(type), otherwise);
  for (std::size_t i = conditions.size() - 1; i-- > 0;) result = where(conditions[i], choices[i].astype(type), result);
  return result;
}

}  // namespace serried::inline v0
