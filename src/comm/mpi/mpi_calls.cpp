#include "comm/mpi/mpi_calls.hpp"

#include <serried/error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <utility>

namespace serried::inline v0::comm {

namespace {

std::string error_text(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}

MPI_Datatype mpi_type(dtype type) {
  switch (type) {
    case dtype::bool_: return MPI_C_BOOL;
    case dtype::int8: return MPI_INT8_T;
    case dtype::int16: return MPI_INT16_T;
    case dtype::int32: return MPI_INT32_T;
    case dtype::int64: return MPI_INT64_T;
    case dtype::uint8: return MPI_UINT8_T;
    case dtype::uint16: return MPI_UINT16_T;
    case dtype::uint32: return MPI_UINT32_T;
    case dtype::uint64: return MPI_UINT64_T;
    case dtype::float32: return MPI_FLOAT;
    case dtype::float64: return MPI_DOUBLE;
    case dtype::complex64: return MPI_C_FLOAT_COMPLEX;
    case dtype::complex128: return MPI_C_DOUBLE_COMPLEX;
    case dtype::float16:
    case dtype::bfloat16: break;
  }
  throw dtype_error(fmt::format("MPI has no type for {}", name(type)));
}

MPI_Op mpi_op(reduce_op op, dtype type, const float_ops& ops) {
  if (is_bool(type)) return op == reduce_op::sum || op == reduce_op::max ? MPI_LOR : MPI_LAND;
  switch (op) {
    case reduce_op::sum: return MPI_SUM;
    case reduce_op::prod: return MPI_PROD;
    case reduce_op::min: return is_floating(type) ? ops.min() : MPI_MIN;
    case reduce_op::max: return is_floating(type) ? ops.max() : MPI_MAX;
  }
  return MPI_OP_NULL;
}

template <class T>
void keep_min(const void* in, void* inout, int n) {
  const T* a = static_cast<const T*>(in);
  T* b = static_cast<T*>(inout);
  for (int i = 0; i < n; ++i)
    if (a[i] < b[i] || std::isnan(a[i]) || (a[i] == b[i] && std::signbit(a[i]))) b[i] = a[i];
}

template <class T>
void keep_max(const void* in, void* inout, int n) {
  const T* a = static_cast<const T*>(in);
  T* b = static_cast<T*>(inout);
  for (int i = 0; i < n; ++i)
    if (a[i] > b[i] || std::isnan(a[i]) || (a[i] == b[i] && !std::signbit(a[i]))) b[i] = a[i];
}

void min_function(void* in, void* inout, int* n, MPI_Datatype* type) {
  *type == MPI_FLOAT ? keep_min<float>(in, inout, *n) : keep_min<double>(in, inout, *n);
}
void max_function(void* in, void* inout, int* n, MPI_Datatype* type) {
  *type == MPI_FLOAT ? keep_max<float>(in, inout, *n) : keep_max<double>(in, inout, *n);
}

const std::byte* advanced(const void* p, std::size_t bytes) { return static_cast<const std::byte*>(p) + bytes; }
std::byte* advanced(void* p, std::size_t bytes) { return static_cast<std::byte*>(p) + bytes; }

/// Calls f(offset in bytes, number of elements) for each piece; once, with no elements, for nothing.
template <class F>
void in_pieces(const request& r, F f) {
  std::size_t first = 0;
  do {
    const std::size_t n = std::min(r.count - first, piece_items(r.type));
    f(first * item_size(r.type), static_cast<int>(n));
    first += n;
  } while (first < r.count);
}

}  // namespace

void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) throw comm_error(fmt::format("{} failed: {}", call, error_text(code)));
}

float_ops::float_ops() {
  check_mpi(MPI_Op_create(min_function, 1, &min_), "MPI_Op_create");
  check_mpi(MPI_Op_create(max_function, 1, &max_), "MPI_Op_create");
}

float_ops::~float_ops() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return;
  MPI_Op_free(&min_);
  MPI_Op_free(&max_);
}

void mpi_requests::post(const request& r, const mpi_group& group) {
  switch (r.op) {
    case operation::broadcast: return broadcast(r, group);
    case operation::all_reduce: return all_reduce(r, group);
    case operation::all_gather: return all_gather(r, group);
    case operation::all_gatherv: return all_gatherv(r, group);
    case operation::all_to_all: return all_to_all(r, group);
    case operation::barrier:
    case operation::finish: return check_mpi(MPI_Ibarrier(group.comm, add()), "MPI_Ibarrier");
    case operation::all_to_allv:
    case operation::send:
    case operation::recv:
    case operation::exchange:
    case operation::split: break;  // messages, or makes a communicator
  }
}

MPI_Request* mpi_requests::add() {
  expected_.push_back(no_message);
  return &requests_.emplace_back(MPI_REQUEST_NULL);
}

void mpi_requests::send(const message& m, MPI_Comm comm) {
  for (std::size_t k = 0; k < m.pieces(); ++k) {
    const message p = m.piece(k);
    check_mpi(MPI_Isend(p.data, static_cast<int>(p.bytes), MPI_BYTE, p.peer, p.tag, comm, add()), "MPI_Isend");
  }
}

void mpi_requests::recv(const message& m, MPI_Comm comm) {
  for (std::size_t k = 0; k < m.pieces(); ++k) {
    const message p = m.piece(k);
    check_mpi(MPI_Irecv(p.data, static_cast<int>(p.bytes), MPI_BYTE, p.peer, p.tag, comm, add()), "MPI_Irecv");
    expected_.back() = static_cast<int>(p.bytes);
  }
}

void mpi_requests::broadcast(const request& r, const mpi_group& group) {
  const int item = static_cast<int>(item_size(r.type));
  in_pieces(r, [&](std::size_t offset, int n) {
    check_mpi(MPI_Ibcast(advanced(r.out, offset), n * item, MPI_BYTE, r.root, group.comm, add()), "MPI_Ibcast");
  });
}

void mpi_requests::all_reduce(const request& r, const mpi_group& group) {
  const MPI_Datatype type = mpi_type(r.type);
  const MPI_Op op = mpi_op(r.reduction, r.type, group.ops);
  const void* from = r.in;
  // Not MPI_IN_PLACE, which all ranks must give or none, and none knows of the others.
  if (r.in == r.out) {
    const auto* const in = static_cast<const std::byte*>(r.in);
    input_.assign(in, in + r.count * item_size(r.type));
    from = input_.data();
  }
  in_pieces(r, [&](std::size_t offset, int n) {
    check_mpi(MPI_Iallreduce(advanced(from, offset), advanced(r.out, offset), n, type, op, group.comm, add()),
              "MPI_Iallreduce");
  });
}

void mpi_requests::gather(const void* in, void* out, std::size_t bytes, MPI_Comm comm) {
  const int n = static_cast<int>(bytes);
  check_mpi(MPI_Iallgather(in, n, MPI_BYTE, out, n, MPI_BYTE, comm, add()), "MPI_Iallgather");
}

void mpi_requests::all_gather(const request& r, const mpi_group& group) {
  gather(r.in, r.out, r.count * item_size(r.type), group.comm);
}

void mpi_requests::all_gatherv(const request& r, const mpi_group& group) {
  const std::size_t item = item_size(r.type), mine = r.recv_counts[static_cast<std::size_t>(group.rank)] * item;
  int offset = 0;
  for (std::size_t count : r.recv_counts) {
    offsets_.push_back(offset);
    counts_.push_back(static_cast<int>(count * item));
    offset += counts_.back();
  }
  check_mpi(MPI_Iallgatherv(r.in, static_cast<int>(mine), MPI_BYTE, r.out, counts_.data(), offsets_.data(), MPI_BYTE,
                            group.comm, add()),
            "MPI_Iallgatherv");
}

void mpi_requests::all_to_all(const request& r, const mpi_group& group) {
  const int n = static_cast<int>(r.count * item_size(r.type));
  check_mpi(MPI_Ialltoall(r.in, n, MPI_BYTE, r.out, n, MPI_BYTE, group.comm, add()), "MPI_Ialltoall");
}

bool mpi_requests::test() {
  statuses_.resize(requests_.size());
  int complete = 0;
  const int code = MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete, statuses_.data());
  if (code == MPI_ERR_IN_STATUS) {
    for (std::size_t i = 0; i < requests_.size(); ++i) inspect(i, statuses_[i].MPI_ERROR, statuses_[i]);
    complete = complete || std::all_of(requests_.begin(), requests_.end(),
                                       [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
  } else {
    check_mpi(code, "MPI_Testall");
    if (complete)
      for (std::size_t i = 0; i < requests_.size(); ++i) inspect(i, MPI_SUCCESS, statuses_[i]);
  }
  if (!complete) return false;
  requests_.clear();
  expected_.clear();
  if (!error_.empty()) throw comm_error(std::exchange(error_, {}));
  return true;
}

void mpi_requests::inspect(std::size_t i, int code, const MPI_Status& status) {
  if (code == MPI_ERR_PENDING) return;
  if (code != MPI_SUCCESS && error_.empty()) error_ = error_text(code);
  if (expected_[i] == no_message) return;
  int received = 0;
  MPI_Get_count(&status, MPI_BYTE, &received);
  if (code == MPI_SUCCESS && received != expected_[i] && error_.empty())
    error_ = fmt::format("expected {} bytes from rank {} but {} came", expected_[i], status.MPI_SOURCE, received);
  expected_[i] = no_message;  // a null request has an empty status when it is tested again
}

}  // namespace serried::inline v0::comm
