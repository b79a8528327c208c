#include <cstring>

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
  if (finished()) return rethrow();
  call.device->current_queue().wait_for(*arrival_);
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
    return !holds_turn();
  }
  attempt([&] {
    mine_ = header_of(call);
    headers_.resize(static_cast<std::size_t>(group_->size_));
    requests_.gather(&mine_, headers_.data(), sizeof mine_, group_->comm_);
    stage_ = stage::checking;
  });
  return !holds_turn();
}

bool mpi_work::holds_turn() const {
  if (!is_collective(call.op) || stage_ == stage::failed) return false;
  return stage_ != stage::running || (transfer_ && !transfer_->posted());
}

void mpi_work::post() {
  attempt([&] {
    stage_ = stage::running;
    if (call.check_only) return;
    if (call.op == operation::split) return split();
    const mpi_group group = group_->group();
    std::optional<message_list> messages =
        messages_of(call, group.rank, group.size, group_->run_->checked, group_->numbers_);
    if (call.device) {
      transfer_ = std::make_unique<transfer>(call, std::move(messages), group, group_->run_->staging_of(call.device));
    } else if (messages) {
      for (const own_part& part : messages->own) std::memmove(part.to, part.from, part.bytes);
      for (const message& m : messages->receives) requests_.recv(m, group.comm);
      for (const message& m : messages->sends) requests_.send(m, group.comm);
    } else {
      requests_.post(call, group);
    }
  });
}

void mpi_work::split() {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(group_->comm_, call.root < 0 ? MPI_UNDEFINED : call.root, call.key, &part),
            "MPI_Comm_split");
  if (part != MPI_COMM_NULL) child = std::make_shared<mpi_backend>(part, group_->node_, group_->run_);
}

progress_made mpi_work::listen() {
  bool heard = false;
  attempt([&] {
    heard = requests_.test();
    if (heard) check_headers(headers_, number_, group_->spans_run());
  });
  if (stage_ == stage::checking) {
    if (!heard) return progress_made::none;
    post();
  }
  if (!holds_turn()) group_->next_turn();
  return progress_made::some;
}

progress_made mpi_work::advance() {
  if (stage_ == stage::queued) return progress_made::none;
  if (stage_ == stage::checking) return listen();
  const bool held_turn = holds_turn(), was_held_up = held_up();
  bool news = false, complete = false;
  if (stage_ == stage::running) {
    attempt([&] {
      news = transfer_ && transfer_->advance();
      complete = transfer_ ? transfer_->done() : requests_.test();
    });
    if (held_turn && !holds_turn()) group_->next_turn();
  }
  if (complete || stage_ == stage::failed) {
    transfer_.reset();
    finish(failure_);
    return progress_made::finished;
  }
  if (!transfer_) return progress_made::none;
  if (was_held_up && !held_up()) restart_clock();
  if (!issued_ && transfer_->issued()) {
    arrival_ = transfer_->arrival();
    // What only sends has no arrival: it is over.
    if (arrival_) issued_.store(true, std::memory_order_release);
  }
  return news ? progress_made::some : progress_made::none;
}

}  // namespace serried::inline v0::comm
