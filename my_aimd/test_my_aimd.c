/* What my_aimd does on an ACK, a loss and a time-out. */
#include "ccgym/controller.h"

#include <assert.h>
#include <stdio.h>

int main(void) {
  const struct ccgym_controller_table* table = ccgym_controller();
  const struct ccgym_config config = {.packet_bytes = 1000, .args = ""};
  const struct ccgym_ack ack = {.acked_packets = 10}, loss = {.lost_packets = 1};
  struct ccgym_limits limits = {.cwnd_packets = 10.0, .next_timer_ms = CCGYM_NO_TIMER};
  void* self = table->create(&config, &limits);
  assert(table->version == CCGYM_CONTROLLER_VERSION && self != NULL);
  table->on_ack(self, 100.0, &ack, &limits);
  assert(limits.cwnd_packets == 11.0);
  table->on_ack(self, 200.0, &loss, &limits);
  assert(limits.cwnd_packets == 5.5);
  table->on_timeout(self, 900.0, NULL, 0, &limits);
  assert(limits.cwnd_packets == 2.0);
  table->destroy(self);
  puts("test_my_aimd: passed");
  return 0;
}
