/*
 * tree.h - the regular files of a directory and of all that is in it, with their sizes.
 *
 * Links are not followed, hidden names (that begin with a dot) and empty files are
 * passed over; how many of each is counted. Files are in the order of their paths'
 * bytes, so that the list does not depend on the file system.
 */
#ifndef SLIMPACK_CLI_TREE_H
#define SLIMPACK_CLI_TREE_H

#include <stdint.h>

typedef struct cli_tree_file {
    char *path;
    int64_t bytes; /* >= 1 */
} cli_tree_file;

typedef struct cli_tree {
    cli_tree_file *files; /* [count] */
    int64_t count, capacity;
    int64_t hidden; /* a hidden directory counts once */
    int64_t empty, links, others;
} cli_tree;

/* Whether a path is a directory; links to one are. */
int cli_is_directory(const char *path);

/* Walks the tree. An entry that cannot be read is reported by its path. Free with
 * cli_tree_free(), after errors too. */
int cli_tree_read(const char *path, cli_tree *out);
void cli_tree_free(cli_tree *tree);

#endif
