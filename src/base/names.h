/*
 * names.h - finds a name in a list, or the nearest one to suggest, or tells a short list.
 */
#ifndef SP_BASE_NAMES_H
#define SP_BASE_NAMES_H

#include "slimpack.h"

/* The index-th name of a list, NULL past the end. */
typedef const char *(*sp__name_at)(const void *list, int32_t index);

/* Index of name in the list; otherwise SP_ERR_NAME with a sentence that says
 * what is missing and suggests the nearest; where none is near it lists all. */
sp_status sp__name_find(const char *what, const char *name, sp__name_at at, const void *list,
                        int32_t *index);

#endif
