/*
 * round_trip.h - whether a plan survives being bytes: as a whole, and for one rank.
 */
#ifndef TESTS_SUPPORT_ROUND_TRIP_H
#define TESTS_SUPPORT_ROUND_TRIP_H

#include <stddef.h>

#include "slimpack.h"

/* Bytes of a schedule or a rank's part, to be freed; fails the test without. */
unsigned char *encoded(const sp_schedule *schedule, int32_t rank, size_t *size);

/* 0 when decoding the bytes of a schedule gives the same schedule and the same bytes,
 * and decoding one rank's part alone gives that rank all that the whole would; else -1
 * with words. */
int round_trip_check(const sp_schedule *schedule, const sp_topology *topology, int32_t rank,
                     char *why, size_t why_size);

#endif
