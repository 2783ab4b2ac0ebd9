/* A congestion controller for ccgym, in plain C: what a library exports to run as `--schemes so:FILE.so`.
 * The library has one symbol, ccgym_controller, which answers with a table of functions; ccgym calls them:
 *   - Times are in ms since the flow began; `now_ms` never decreases, and no callback calls another.
 *   - Every packet is sent, then acknowledged or declared lost. If a packet that was declared lost arrives
 *     after all, on_spurious_loss is called for it, and then on_ack.
 *   - Each ACK causes one on_ack. Losses that a timer detects, without an ACK, are reported by an on_ack that
 *     has no acknowledged packets and no rate sample.
 *   - on_restart is called after an idle period, before the on_sent of the packet that ends it.
 *   - on_timer is called once, at or after next_timer_ms; it sets a later time, or CCGYM_NO_TIMER.
 *   - RTTs are those after the newest ACK, and 0 before the first one.
 *   - Each callback may change the limits that it is given; they hold until a later callback changes them.
 *   - A packet may leave while inflight + packet <= cwnd and the pacer permits it. If nothing is in flight,
 *     one packet may leave whatever the cwnd.
 * Memory that a pointer refers to belongs to the caller, and is valid only during the callback. Keep state in
 * `self`, never in global variables of the library: several flows run at once, in several threads as well.
 */
#ifndef CCGYM_CONTROLLER_H
#define CCGYM_CONTROLLER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CCGYM_CONTROLLER_VERSION 4 /* of all declarations below: a library of another version is refused */

#define CCGYM_NO_PACING 0.0
#define CCGYM_NO_TIMER (-1.0)

struct ccgym_config {
  int64_t packet_bytes; /* UDP payload of a data packet: the unit of the window */
  uint64_t seed;        /* for the controller's random numbers: the same seed has to give the same run */
  const char* args;     /* what follows "so:FILE.so:", never NULL */
};

struct ccgym_limits {
  double cwnd_packets;  /* 0 to 1e9; initially 10 */
  double pacing_mbps;   /* Mbit/s of UDP payload, 1e-6 to 1e9; CCGYM_NO_PACING: only the cwnd limits */
  double next_timer_ms; /* time of the next on_timer; CCGYM_NO_TIMER: none */
  int32_t holds_back;   /* 1: sends less than the path can carry, on purpose: rate samples are app-limited */
};

struct ccgym_sent_packet {
  uint64_t seq; /* from 0, one per packet */
  int64_t bytes;
  int64_t inflight_bytes; /* including this packet */
  double smoothed_rtt_ms;
};

struct ccgym_acked_packet {
  uint64_t seq;
  int64_t bytes;
  double sent_ms;
  double received_ms; /* receiver's clock: only differences are meaningful; NaN if not reported */
  int64_t inflight_bytes_at_departure;  /* including this packet */
  int64_t lost_bytes_at_departure;      /* total of the flow when this packet left, without this packet */
  int64_t delivered_bytes_at_departure; /* likewise */
};

struct ccgym_lost_packet {
  uint64_t seq;
  int64_t bytes;
  double sent_ms;
  int64_t inflight_bytes_at_departure;
  int64_t lost_bytes_at_departure;
  int32_t app_limited; /* 1: it left while the flow was application-limited, as in rate_app_limited below */
};

enum ccgym_limit { CCGYM_LIMIT_WINDOW = 0, CCGYM_LIMIT_PACING = 1, CCGYM_LIMIT_APPLICATION = 2 };

struct ccgym_ack {
  const struct ccgym_acked_packet* acked; /* in the order they were sent */
  size_t acked_packets;
  const struct ccgym_lost_packet* lost;
  size_t lost_packets;
  int64_t inflight_bytes;      /* without the packets acknowledged and lost here */
  int64_t delivered_bytes;     /* total of the flow, including this ACK */
  int64_t declared_lost_bytes; /* total of the flow, including this ACK */
  uint64_t next_seq;           /* seq of the next packet to be sent */
  double rtt_ms;               /* latest sample */
  double smoothed_rtt_ms;
  double min_rtt_ms;
  /* The rate sample of draft-cheng-iccrg-delivery-rate-estimation, section 3. */
  double rate_mbps;                   /* delivery rate; NaN: no sample */
  int64_t rate_delivered_bytes;       /* rs.delivered */
  int64_t rate_prior_delivered_bytes; /* rs.prior_delivered */
  double rate_interval_ms;            /* rs.interval: the longer of send and ACK interval */
  double rate_ack_interval_ms;        /* rs.ack_elapsed */
  int32_t rate_app_limited;           /* 1: rs.is_app_limited: the application had too little data to send */
  int32_t limited_by;                 /* enum ccgym_limit: what has kept the sender from sending more */
  int64_t ce_packets;                 /* newly reported ECN-CE marks; 0 without wants_ecn */
};

/* The retransmission time-out: no ACK came for too long, so all packets in flight are presumed lost. */
struct ccgym_timeout {
  const struct ccgym_lost_packet* lost;
  size_t lost_packets;
  int64_t delivered_bytes;     /* total of the flow */
  int64_t declared_lost_bytes; /* total of the flow, including these */
  uint64_t next_seq;           /* seq of the next packet to be sent */
  double rtt_ms;
  double smoothed_rtt_ms;
  double min_rtt_ms;
};

/* next_timer_ms has been reached. */
struct ccgym_timer {
  int64_t inflight_bytes;
  double rtt_ms; /* latest sample */
  double smoothed_rtt_ms;
  double min_rtt_ms;
};

struct ccgym_spurious_loss {
  uint64_t seq;
  int64_t bytes;
  double sent_ms;
  int32_t timeout; /* 1: the time-out was spurious, and all packets sent after this one are in flight again */
};

struct ccgym_metric {
  const char* name; /* a string that stays valid while the library is loaded, such as a literal */
  const char* unit; /* likewise; "" for a number without a unit */
  double value;
};

struct ccgym_controller_table {
  uint32_t version;  /* CCGYM_CONTROLLER_VERSION */
  int32_t wants_ecn; /* 1: packets are sent as ECT, and the controller responds to CE marks (RFC 3168) */
  /* Makes a controller and sets its initial limits. Returns NULL to refuse the arguments. */
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
  /* Values for logs and plots, the same names at every call. Writes up to `most` of them and returns how many
   * there are, at most 64. */
  size_t (*metrics)(const void* self, struct ccgym_metric* metrics, size_t most);
  /* An independent copy. If NULL, uses that copy a running flow refuse the scheme. */
  void* (*clone)(const void* self);
};

const struct ccgym_controller_table* ccgym_controller(void);

#ifdef __cplusplus
}
#endif

#endif
