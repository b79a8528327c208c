// Expressions over local arrays.
#include <serried/array.hpp>
#include <serried/error.hpp>

#include "local/evaluate.hpp"
#include "local/expr_impl.hpp"

namespace serried::inline v0 {

template class basic_expr<array>;

namespace detail {
void throw_moved_from() { throw value_error("an expression that was moved from is used"); }

template expr apply(opcode, std::span<argument<array>>);
template bounded<array> make_bounded(const expr&, std::vector<boundary_pair>);
template expr make_at(expr, const dims&);
template expr make_index(const expr&, int);
template expr make_invert(const expr&);
template expr make_on_border(const expr&, std::int64_t);
template expr make_reduction(reduce_kind, const expr&, const reduce_options&);
}  // namespace detail

}  // namespace serried::inline v0
