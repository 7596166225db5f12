/*
 * abi.h - moves sized structs across the library's border.
 *
 * Caller and library may have been compiled from different releases, so a
 * struct can be shorter or longer on one side. Fields are only ever appended,
 * and a zero field always means "default".
 */
#ifndef SP_BASE_ABI_H
#define SP_BASE_ABI_H

#include "slimpack.h"

/* Reads a caller's struct into one of known bytes: a short one (not below
 * smallest) is completed with zeros, a long one accepted when its unseen tail is
 * zero. Ignoring an option that somebody set would be worse than an error. */
sp_status sp__struct_in(void *to, size_t known, size_t smallest, const void *from,
                        const char *argument);

/* Fills a caller's struct from ours of known bytes, keeping its struct_size and
 * what lies beyond our knowledge. */
sp_status sp__struct_out(void *to, const void *from, size_t known, size_t smallest,
                         const char *argument);

/* Whether sp__struct_out() would be able to fill it. */
sp_status sp__struct_ready(const void *to, size_t smallest, const char *argument);

#endif
