/* SPDX-License-Identifier: Apache-2.0 */
#include "args.h"

#include <string.h>

#include "report.h"

struct walk {
    struct cli_options *options;
    const char *const *next; /* Ended by NULL. */
    /* A bit for each row of the table. The verb may come after them, so they are checked last. */
    uint64_t given;
};

static const struct cli_option *find_long(const char *name, size_t size)
{
    for (const struct cli_option *option = cli_options_table; option->name != NULL; option++) {
        if (strlen(option->name) == size && memcmp(option->name, name, size) == 0)
            return option;
    }
    return NULL;
}

static const struct cli_option *find_letter(char letter)
{
    for (const struct cli_option *option = cli_options_table; option->name != NULL; option++) {
        if (option->letter == letter)
            return option;
    }
    return NULL;
}

static int store(struct walk *walk, const struct cli_option *option, const char *value)
{
    walk->given |= (uint64_t)1 << (option - cli_options_table);
    void *field = (char *)walk->options + option->offset;
    const char *wrong = option->set(walk->options, field, value);
    if (wrong == NULL)
        return CLI_EXIT_OK;
    if (option->is_secret || value == NULL) /* a flag has none */
        return cli_say_usage("--%s: %s", option->name, wrong);
    return cli_say_usage("--%s %s: %s", option->name, value, wrong);
}

/* "--name value", "--name=value" or "--name". */
static int take_long(struct walk *walk, const char *word)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t size = equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct cli_option *option = find_long(name, size);
    if (option == NULL)
        return cli_say_usage("%.*s: no such option", (int)size + 2, word);
    if (option->metavar == NULL) {
        if (equals != NULL)
            return cli_say_usage("--%s takes no value", option->name);
        return store(walk, option, NULL);
    }
    if (equals != NULL)
        return store(walk, option, equals + 1);
    const char *value = *walk->next;
    if (value == NULL || strcmp(value, "--") == 0)
        return cli_say_usage("--%s needs a value: %s", option->name, option->metavar);
    walk->next++;
    return store(walk, option, value);
}

/* "-v", "-vv": none of the letters takes a value. */
static int take_letters(struct walk *walk, const char *word)
{
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const struct cli_option *option = find_letter(*letter);
        if (option == NULL)
            return cli_say_usage("%s: no such option", word);
        int status = store(walk, option, NULL);
        if (status != CLI_EXIT_OK)
            return status;
    }
    return CLI_EXIT_OK;
}

static int take_word(struct cli_options *options, const char *word)
{
    if (options->verb != NULL) {
        options->words[options->word_count++] = word;
        return CLI_EXIT_OK;
    }
    const struct cli_verb *verb = cli_verbs;
    while (verb->name != NULL && strcmp(verb->name, word) != 0)
        verb++;
    if (verb->name == NULL)
        return cli_say_usage("%s: no such verb", word);
    options->verb = verb;
    return CLI_EXIT_OK;
}

static int take_all(struct walk *walk)
{
    while (*walk->next != NULL) {
        const char *word = *walk->next++;
        int status;
        if (strcmp(word, "--") == 0) {
            walk->options->command = walk->next;
            return CLI_EXIT_OK;
        }
        if (strncmp(word, "--", 2) == 0)
            status = take_long(walk, word);
        else if (word[0] == '-' && word[1] != '\0')
            status = take_letters(walk, word);
        else
            status = take_word(walk->options, word);
        if (status != CLI_EXIT_OK)
            return status;
    }
    return CLI_EXIT_OK;
}

static int check_options(const struct walk *walk)
{
    const struct cli_verb *verb = walk->options->verb;
    for (const struct cli_option *option = cli_options_table; option->name != NULL; option++) {
        bool given = (walk->given >> (option - cli_options_table) & 1) != 0;
        if (given && (option->verbs & verb->bit) == 0)
            return cli_say_usage("%s takes no --%s", verb->name, option->name);
    }
    return CLI_EXIT_OK;
}

static int check_words(const struct cli_options *options)
{
    const struct cli_verb *verb = options->verb;
    if (options->word_count < verb->least_words)
        return cli_say_usage("%s needs %s", verb->name, verb->words);
    if (options->word_count > verb->most_words)
        return cli_say_usage("%s: one word too many: %s", verb->name,
                             options->words[verb->most_words]);
    if (options->command == NULL || options->command[0] == NULL)
        return cli_say_usage("%s: no server; end the line with -- COMMAND [ARG...]", verb->name);
    return CLI_EXIT_OK;
}

int cli_args_parse(struct cli_options *options, int argc, const char *const *argv)
{
    struct walk walk = {.options = options, .next = argv + (argc > 0 ? 1 : 0)};
    int status = take_all(&walk);
    if (status != CLI_EXIT_OK || options->help || options->version)
        return status;
    if (options->verb == NULL)
        return cli_say_usage("no verb given");
    status = check_options(&walk);
    return status != CLI_EXIT_OK ? status : check_words(options);
}
