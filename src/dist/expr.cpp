// Expressions over distributed arrays.
#include <serried/dist/array.hpp>

#include "local/evaluate.hpp"

#include "dist/evaluate.hpp"
#include "local/expr_impl.hpp"

namespace serried::inline v0 {

template class basic_expr<dist::array>;

namespace detail {
template dist::expr apply(opcode, std::span<argument<dist::array>>);
template bounded<dist::array> make_bounded(const dist::expr&, std::vector<boundary_pair>);
template dist::expr make_at(dist::expr, const dims&);
template dist::expr make_index(const dist::expr&, int);
template dist::expr make_invert(const dist::expr&);
template dist::expr make_on_border(const dist::expr&, std::int64_t);
template dist::expr make_reduction(reduce_kind, const dist::expr&, const reduce_options&);
}  // namespace detail

}  // namespace serried::inline v0
