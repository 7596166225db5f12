/*
 * exchange.h - what ranks of one stage exchange for a pack: keys and values forward,
 * their gradients backward.
 *
 * The ranks that share a pack are its group: the CP ranks of the replica, or those of
 * all replicas of the pack's merge. What each of them holds of the pack is known from
 * the schedule, which answers for any rank, so that no counts are ever sent. A sample
 * that stands whole on one rank exchanges nothing.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include <mpi.h>

#include "sequence.h"
#include "slimpack.h"

typedef struct exchange {
    const sp_schedule *schedule;
    const sp_topology *topology;
    int32_t rank;
    sp_coordinates at, degrees;
    MPI_Comm world;    /* the ranks of the topology, in their order */
    MPI_Comm stage;    /* those of this rank's stage */
    MPI_Comm context;  /* the CP ranks of its replica and stage */
    MPI_Comm *meeting; /* [merges] those of its stage in the merge's replicas */
} exchange;

/* All ranks of world call these together. */
void exchange_open(exchange *x, const sp_schedule *schedule, const sp_topology *topology,
                   MPI_Comm world);
void exchange_close(exchange *x);

/* The shards of a pack on a rank; aborts when the library refuses. */
sp_pack_view pack_at(const exchange *x, int32_t rank, sp_pass pass, int32_t pack);

/* Forward: the group's new keys and values of a layer come into the caches of all. */
void gather_keys(const exchange *x, int32_t pack, sequence *sequences, int l);

/* Backward: what the ranks of the group have collected for the pack's keys and values is
 * added up; each receives the sums of its own tokens. */
void reduce_key_gradients(const exchange *x, int32_t pack, sequence *sequences, int l);

/* Ends the program with the library's words unless the status is SP_OK. */
void must(sp_status status);

#endif
