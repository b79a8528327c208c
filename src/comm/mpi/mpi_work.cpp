#include "comm/mpi/mpi_backend.hpp"

namespace serried::inline v0::comm {

mpi_work::mpi_work(std::shared_ptr<mpi_backend> group, request r, std::uint64_t number)
    : work_state(std::move(r), group->run_->lost), group_(std::move(group)), number_(number) {}

template <class F>
void mpi_work::attempt(F f) {
  try {
    f();
  } catch (...) {
    failure_ = std::current_exception();
    stage_ = stage::failed;
  }
}

void mpi_work::wait() {
  group_->run_->driver->wait(*this);
  rethrow();
}

bool mpi_work::done() { return group_->run_->driver->poll(*this); }

void mpi_work::begin() {
  if (is_collective(call.op)) group_->take_turn(*this);
  else post();
}

bool mpi_work::open() {
  // MPI_Comm_split blocks, so it must not begin before all ranks are there: other works would stand still meanwhile.
  if (!group_->run_->checked && call.op != operation::split) {
    post();
    return true;
  }
  attempt([&] {
    mine_ = header_of(call);
    headers_.resize(static_cast<std::size_t>(group_->size_));
    requests_.gather(&mine_, headers_.data(), sizeof mine_, group_->comm_);
    stage_ = stage::checking;
  });
  return stage_ == stage::failed;
}

void mpi_work::post() {
  attempt([&] {
    if (call.op == operation::split) split();
    else requests_.post(call, group_->group());
    stage_ = stage::running;
  });
}

void mpi_work::split() {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(group_->comm_, call.root < 0 ? MPI_UNDEFINED : call.root, call.key, &part),
            "MPI_Comm_split");
  if (part != MPI_COMM_NULL) child = std::make_shared<mpi_backend>(part, group_->node_, group_->run_);
}

bool mpi_work::advance() {
  const bool checking = stage_ == stage::checking;
  if (stage_ == stage::queued) return false;
  if (stage_ != stage::failed) {
    bool complete = false;
    attempt([&] {
      complete = requests_.test();
      if (complete && checking) check_headers(headers_, number_, group_->spans_run());
    });
    if (!complete && stage_ != stage::failed) return false;
  }
  if (checking) {
    if (stage_ != stage::failed) post();
    group_->next_turn();
    if (stage_ != stage::failed) return false;
  }
  finish(failure_);
  return true;
}

}  // namespace serried::inline v0::comm
