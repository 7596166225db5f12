/*
 * npy_header.h - the dictionary at the head of a NumPy array file, such as
 * {'descr': '<i8', 'fortran_order': False, 'shape': (1000,), }.
 *
 * It is a literal of Python; what numpy.lib.format writes is read, and nothing that
 * would have to be evaluated.
 */
#ifndef SLIMPACK_CLI_NPY_HEADER_H
#define SLIMPACK_CLI_NPY_HEADER_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_npy_header {
    const char *descr; /* within the text; NULL: not one dtype but a list of fields */
    size_t descr_length;
    int fortran;
    const char *shape; /* within the text, parentheses included */
    size_t shape_length;
    int dimensions;
    uint64_t count; /* the last dimension's */
} cli_npy_header;

/* Takes the text apart; what is wrong with it, or NULL. */
const char *cli_npy_parse(const char *text, size_t length, cli_npy_header *out);

#endif
