/* my_aimd: additive increase, multiplicative decrease; the window grows by a packet a round trip and is halved
 * on loss. What each field means, and in which unit, says ccgym/controller.h. */
#include "ccgym/controller.h"

#include <stdlib.h>

struct my_aimd {
  double least_packets; /* what the window never falls below: so:my_aimd.so:LEAST */
};

static void* create(const struct ccgym_config* config, struct ccgym_limits* limits) {
  struct my_aimd* self = calloc(1, sizeof *self);
  (void)limits; /* a window of 10 packets, no pacing, no timer */
  if (self == NULL) return NULL;
  self->least_packets = config->args[0] == '\0' ? 2.0 : atof(config->args);
  if (self->least_packets >= 1.0) return self;
  free(self);
  return NULL; /* the argument is refused */
}

static void* clone(const void* self) {
  struct my_aimd* copy = malloc(sizeof *copy);
  if (copy != NULL) *copy = *(const struct my_aimd*)self;
  return copy;
}

static void on_ack(void* self, double now_ms, const struct ccgym_ack* ack, struct ccgym_limits* limits) {
  const double least_packets = ((struct my_aimd*)self)->least_packets;
  (void)now_ms;
  limits->cwnd_packets += (double)ack->acked_packets / limits->cwnd_packets;
  if (ack->lost_packets > 0) limits->cwnd_packets /= 2.0;
  if (limits->cwnd_packets < least_packets) limits->cwnd_packets = least_packets;
}

static void on_timeout(void* self, double now_ms, const struct ccgym_lost_packet* lost, size_t lost_packets,
                       struct ccgym_limits* limits) {
  (void)now_ms, (void)lost, (void)lost_packets;
  limits->cwnd_packets = ((struct my_aimd*)self)->least_packets;
}

const struct ccgym_controller_table* ccgym_controller(void) {
  static const struct ccgym_controller_table table = {
      .version = CCGYM_CONTROLLER_VERSION,
      .create = create,
      .destroy = free,
      .on_ack = on_ack,
      .on_timeout = on_timeout,
      .clone = clone,
  };
  return &table;
}
