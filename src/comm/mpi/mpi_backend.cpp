#include "comm/mpi/mpi_backend.hpp"

#include <serried/error.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "comm/last_words.hpp"

namespace serried::inline v0::comm {

namespace {

/// A number that the ranks of this machine share: the lowest of their ranks.
int node_number(MPI_Comm comm) {
  int rank = 0, number = 0;
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check_mpi(MPI_Allreduce(&rank, &number, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  return number;
}

[[noreturn]] void end_all_ranks(MPI_Comm comm, int exit_code) {
  std::cout.flush();
  std::fflush(nullptr);
  MPI_Abort(comm, exit_code);  // from any thread: nothing else matters any more
  std::_Exit(exit_code);
}

settings settings_or_default() {
  try {
    return settings_from_environment();
  } catch (const value_error&) {
    return {};
  }
}

}  // namespace

std::shared_ptr<mpi_backend> make_mpi(MPI_Comm comm, bool thread_allowed) {
  const settings s = settings_or_default();
  MPI_Comm own = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(comm, &own), "MPI_Comm_dup");
  int checked = s.check;  // launchers need not give all ranks the same environment
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &checked, 1, MPI_INT, MPI_MAX, own), "MPI_Allreduce");
  const int node = node_number(own);
  int size = 1;
  check_mpi(MPI_Comm_size(own, &size), "MPI_Comm_size");
  auto run = std::make_shared<mpi_run>();
  run->size = size;
  run->checked = checked != 0;
  auto world = std::make_shared<mpi_backend>(own, node, run);
  run->driver = progress::make(thread_allowed && s.progress_thread, s.stall_limit);  // from here on MPI is its own
  return world;
}

const std::shared_ptr<staging_queues>& mpi_run::staging_of(const std::shared_ptr<engine>& device) {
  for (const auto& known : staging)
    if (known->device == device) return known;
  return staging.emplace_back(std::make_shared<staging_queues>(device));
}

std::shared_ptr<backend> handle_of(std::shared_ptr<mpi_backend> b) {
  mpi_backend* const plain = b.get();
  return {plain, [b = std::move(b)](backend*) mutable {
            b->driver()->settle();
            b.reset();
          }};
}

mpi_backend::mpi_backend(MPI_Comm comm, int node, std::shared_ptr<mpi_run> run)
    : comm_(comm), node_(node), run_(std::move(run)) {
  check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  numbers_ = message_numbers(size_);
  std::vector<int> nodes(static_cast<std::size_t>(size_));
  check_mpi(MPI_Allgather(&node_, 1, MPI_INT, nodes.data(), 1, MPI_INT, comm_), "MPI_Allgather");
  node_rank_ = static_cast<int>(std::count(nodes.begin(), nodes.begin() + rank_, node_));
  node_size_ = static_cast<int>(std::count(nodes.begin(), nodes.end(), node_));
}

mpi_backend::~mpi_backend() {
  if (run_->driver) run_->driver->release(comm_);
}

std::shared_ptr<mpi_work> mpi_backend::submit(request r) {
  run_->lost->rethrow();
  const std::uint64_t number = is_collective(r.op) ? ++calls_ : 0;
  auto w = std::make_shared<mpi_work>(shared_from_this(), std::move(r), number);
  run_->driver->submit(w);
  return w;
}

std::shared_ptr<work_state> mpi_backend::start(request r) { return handle_of(submit(std::move(r))); }

std::shared_ptr<backend> mpi_backend::split(int color, int key) {
  const auto w = submit({.op = operation::split, .root = color, .key = key});
  w->wait();
  return w->child ? handle_of(std::move(w->child)) : nullptr;
}

void mpi_backend::finish() {
  run_->driver->drain(*this);
  submit({.op = operation::finish})->wait();
}

void mpi_backend::abort(int exit_code) { end_all_ranks(comm_, exit_code); }

void mpi_backend::stalled(std::string_view what, double seconds) {
  end_with_error(*this, stall_message(rank_, size_, seconds, what));
}

void mpi_backend::take_turn(mpi_work& w) {
  turns_.push_back(&w);
  if (turns_.size() == 1) open_turns();
}

void mpi_backend::next_turn() {
  turns_.pop_front();
  open_turns();
}

void mpi_backend::open_turns() {
  while (!turns_.empty() && turns_.front()->open()) turns_.pop_front();
}

}  // namespace serried::inline v0::comm
