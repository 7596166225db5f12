/*
 * lengths_verb.c - `slimpack lengths DIR|FILE`: lengths as text, one a line.
 *
 * Of a file in any format its lengths; of a directory a length for each file in it, by
 * its size. All is read before anything is printed: what fails prints nothing.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lengths.h"
#include "message.h"
#include "tree.h"
#include "verbs.h"

#define BYTES_PER_TOKEN 4

static void print_count(const char *path, int64_t count)
{
    printf("# %s: %" PRId64 " length%s\n", cli_show_text(path).text, count,
           count == 1 ? "" : "s");
}

static void print_list(const cli_lengths *list)
{
    for (int64_t i = 0; i < list->count && !ferror(stdout); i++)
        printf("%" PRId64 "\n", list->values[i]);
}

static int print_file(const cli_options *o)
{
    cli_lengths list;
    int code;

    if (o->bytes_per_token > 0)
        return cli_fail(CLI_USAGE, "--bytes-per-token: %s is not a directory", o->argument);
    code = cli_lengths_read(o->argument, o->field, o->skip, o->batch, &list);
    if (code != CLI_OK)
        return code;
    print_count(o->argument, list.count);
    print_list(&list);
    cli_lengths_free(&list);
    return CLI_OK;
}

/* Which of the files are wanted. */
static int check_range(const cli_options *o, const cli_tree *tree, int64_t *end)
{
    int64_t left = tree->count > o->skip ? tree->count - o->skip : 0;

    if (tree->count == 0)
        return cli_fail(CLI_DATA, "%s: no files that are neither empty nor hidden", o->argument);
    if (left < o->batch)
        return cli_fail(CLI_DATA, "%s: --batch %" PRId64 " after --skip %" PRId64 ": only %" PRId64
                        " of %" PRId64 " files are left", o->argument, o->batch, o->skip, left,
                        tree->count);
    if (left == 0)
        return cli_fail(CLI_DATA, "%s: --skip %" PRId64 " leaves nothing of %" PRId64 " files",
                        o->argument, o->skip, tree->count);
    *end = o->batch > 0 ? o->skip + o->batch : tree->count;
    return CLI_OK;
}

/* Replaces the sizes by lengths, rounded up. */
static int measure(cli_tree *tree, int64_t bytes_per_token)
{
    for (int64_t i = 0; i < tree->count; i++) {
        int64_t bytes = tree->files[i].bytes;
        int64_t tokens = bytes / bytes_per_token + (bytes % bytes_per_token > 0);

        if (tokens > INT32_MAX)
            return cli_fail(CLI_DATA, "%s: %" PRId64 " bytes, %" PRId64
                            " tokens, are above 2147483647, the longest length",
                            tree->files[i].path, bytes, tokens);
        tree->files[i].bytes = tokens;
    }
    return CLI_OK;
}

static int print_files(const cli_options *o, cli_tree *tree)
{
    int64_t ratio = o->bytes_per_token > 0 ? o->bytes_per_token : BYTES_PER_TOKEN;
    int64_t end = 0;
    int code = measure(tree, ratio);

    if (code == CLI_OK)
        code = check_range(o, tree, &end);
    if (code != CLI_OK)
        return code;
    print_count(o->argument, end - o->skip);
    printf("# a file each, %" PRId64 " bytes a token; left out: %" PRId64 " hidden, %" PRId64
           " empty, %" PRId64 " links, %" PRId64 " others\n",
           ratio, tree->hidden, tree->empty, tree->links, tree->others);
    for (int64_t i = o->skip; i < end && !ferror(stdout); i++)
        printf("%" PRId64 "\n", tree->files[i].bytes);
    return CLI_OK;
}

static int print_directory(const cli_options *o)
{
    cli_tree tree;
    int code;

    if (o->field != NULL)
        return cli_fail(CLI_USAGE, "--field: %s is a directory, not JSON lines", o->argument);
    code = cli_tree_read(o->argument, &tree);
    if (code == CLI_OK)
        code = print_files(o, &tree);
    cli_tree_free(&tree);
    return code;
}

int cli_lengths_verb(const cli_options *options)
{
    if (options->argument == NULL)
        return cli_fail(CLI_USAGE, "lengths: DIR or FILE is missing (- is standard input)");
    return cli_is_directory(options->argument) ? print_directory(options) : print_file(options);
}
