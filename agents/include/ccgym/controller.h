/* A congestion controller for ccgym, in plain C: what a library exports to run as `--schemes so:FILE.so`.
 * The library has one symbol, ccgym_controller, which answers with a table of functions; ccgym calls them:
 *   - Times are in ms since the flow began; `now_ms` never decreases, and no callback calls another.
 *   - A packet is sent, then acknowledged or lost. A lost one that arrives is spurious, then acknowledged.
 *   - One ACK is one on_ack. Losses that only time reveals are an on_ack without acked packets and rate.
 *   - on_restart comes before the on_sent that ends an idle time.
 *   - on_timer is called once, at or after its deadline; it sets a later one, or CCGYM_NO_TIMER.
 *   - Round trips are as the newest ACK has left them, 0 before it.
 *   - Each callback may change the limits it is given; they stay as they are until the next one.
 *   - A packet leaves while inflight + packet <= window and the pacer is due; one may always be in flight.
 * What a pointer points at is the caller's, and gone when the callback returns. State belongs into `self`,
 * never into variables of the library: several flows run at once, also in several threads.
 */
#ifndef CCGYM_CONTROLLER_H
#define CCGYM_CONTROLLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CCGYM_CONTROLLER_VERSION 4 /* of everything below: another version is refused */

#define CCGYM_NO_PACING 0.0
#define CCGYM_NO_TIMER (-1.0)

struct ccgym_config {
  int64_t packet_bytes; /* UDP payload of a data packet: the unit of the window */
  uint64_t seed;        /* of what the controller draws by chance; the same seed, the same run */
  const char* args;     /* what follows "so:FILE.so:", never NULL */
};

struct ccgym_limits {
  double cwnd_packets;  /* 10 at first; 0 to 1e9 */
  double pacing_mbps;   /* 1e-6 to 1e9 Mbit/s of UDP payload; CCGYM_NO_PACING: the window alone decides */
  double next_timer_ms; /* when on_timer is to be called; CCGYM_NO_TIMER: not at all */
  int32_t holds_back;   /* 1: below what the path allows, on purpose: rate samples tell nothing of it */
};

struct ccgym_sent_packet {
  uint64_t seq; /* from 0 */
  int64_t bytes;
  int64_t inflight_bytes; /* with this packet */
  double smoothed_rtt_ms;
};

struct ccgym_acked_packet {
  uint64_t seq;
  int64_t bytes;
  double sent_ms;
  double received_ms; /* by the receiver's clock: differences only; NaN if it does not tell */
  int64_t inflight_bytes_at_departure; /* with this packet */
  int64_t lost_bytes_at_departure;     /* flow totals, without this packet */
  int64_t delivered_bytes_at_departure;
};

struct ccgym_lost_packet {
  uint64_t seq;
  int64_t bytes;
  double sent_ms;
  int64_t inflight_bytes_at_departure;
  int64_t lost_bytes_at_departure;
  int32_t app_limited; /* as rate_app_limited of an ACK */
};

enum ccgym_limit { CCGYM_LIMIT_WINDOW = 0, CCGYM_LIMIT_PACING = 1, CCGYM_LIMIT_APPLICATION = 2 };

struct ccgym_ack {
  const struct ccgym_acked_packet* acked; /* in the order they were sent */
  size_t acked_packets;
  const struct ccgym_lost_packet* lost;
  size_t lost_packets;
  int64_t inflight_bytes;      /* after all of this */
  int64_t delivered_bytes;     /* flow total, with these */
  int64_t declared_lost_bytes; /* flow total, with these */
  uint64_t next_seq;           /* of the next packet to leave */
  double rtt_ms;               /* latest */
  double smoothed_rtt_ms;
  double min_rtt_ms;
  double rate_mbps; /* delivery rate, as of draft-cheng-iccrg-delivery-rate-estimation; NaN: no sample */
  int64_t rate_delivered_bytes;
  int64_t rate_prior_delivered_bytes;
  double rate_interval_ms;
  double rate_ack_interval_ms;
  int32_t rate_app_limited; /* 1: the sample is of a time when the application had no data */
  int32_t limited_by;       /* enum ccgym_limit: why the sender has not sent more up to this ACK */
  int64_t ce_packets;       /* more have come marked "congestion experienced"; 0 without wants_ecn */
};

/* No ACK came for too long: everything in flight is presumed lost. */
struct ccgym_timeout {
  const struct ccgym_lost_packet* lost;
  size_t lost_packets;
  int64_t delivered_bytes;     /* flow total */
  int64_t declared_lost_bytes; /* flow total, with these */
  uint64_t next_seq;           /* of the next packet to leave */
  double rtt_ms;
  double smoothed_rtt_ms;
  double min_rtt_ms;
};

/* next_timer_ms is reached: nothing has changed since the last event. */
struct ccgym_timer {
  int64_t inflight_bytes;
  double rtt_ms; /* latest */
  double smoothed_rtt_ms;
  double min_rtt_ms;
};

struct ccgym_spurious_loss {
  uint64_t seq;
  int64_t bytes;
  double sent_ms;
  int32_t timeout; /* 1: a time-out was spurious, and all that left after this packet is in flight again */
};

struct ccgym_metric {
  const char* name; /* of the library, for as long as it is loaded; so is the unit, "" for a plain number */
  const char* unit;
  double value;
};

struct ccgym_controller_table {
  uint32_t version;  /* CCGYM_CONTROLLER_VERSION */
  int32_t wants_ecn; /* 1: its packets may be marked instead of dropped, it answers marks (RFC 3168) */
  /* A new controller, and its first limits. NULL: the arguments are refused. */
  void* (*create)(const struct ccgym_config* config, struct ccgym_limits* limits);
  void (*destroy)(void* self);
  void (*on_ack)(void* self, double now_ms, const struct ccgym_ack* ack, struct ccgym_limits* limits);
  void (*on_timeout)(void* self, double now_ms, const struct ccgym_timeout* timeout,
                     struct ccgym_limits* limits);
  /* The others may be NULL. */
  void (*on_sent)(void* self, double now_ms, const struct ccgym_sent_packet* packet,
                  struct ccgym_limits* limits);
  void (*on_spurious_loss)(void* self, double now_ms, const struct ccgym_spurious_loss* loss,
                           struct ccgym_limits* limits);
  void (*on_restart)(void* self, double now_ms, double idle_ms, struct ccgym_limits* limits);
  void (*on_timer)(void* self, double now_ms, const struct ccgym_timer* timer, struct ccgym_limits* limits);
  /* For logs and plots, always the same ones: writes up to `most`, returns how many there are, 64 at most. */
  size_t (*metrics)(const void* self, struct ccgym_metric* metrics, size_t most);
  void* (*clone)(const void* self); /* without it, what copies a flow midway refuses the scheme */
};

const struct ccgym_controller_table* ccgym_controller(void);

#ifdef __cplusplus
}
#endif

#endif
