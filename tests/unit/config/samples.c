/* SPDX-License-Identifier: Apache-2.0 */
/* Files as they are found in the world (tests/data/config). */
#include <limits.h>

#include "support.h"

static mcpump_config *load(const char *name)
{
    char path[PATH_MAX];
    mcpump_config *config = NULL;
    mcpump_failure *failure = NULL;
    const char *data = getenv("MCPUMP_TEST_DATA");
    cr_assert_not_null(data, "MCPUMP_TEST_DATA is to name tests/data");
    snprintf(path, sizeof(path), "%s/config/%s", data, name);
    mcpump_err err = mcpump_config_load(path, &config, &failure);
    cr_assert_eq(err, MCPUMP_OK, "%s", mcpump_failure_message(failure));
    return config;
}

/* What is said behind the file's name, of entries and then of warnings. */
static void expect_words(const mcpump_config *config, const char *const *problems, size_t count)
{
    cr_assert_eq(mcpump_config_count(config), count);
    for (size_t i = 0; i < count; i++) {
        const char *problem = mcpump_config_problem(config, i);
        const char *words = strstr(problem, ".json:");
        words = words != NULL ? words + strlen(".json:") : problem;
        cr_expect_str_eq(words, problems[i], "%s", problem);
    }
}

static void set_variables(void)
{
    setenv("HOME", "/srv/me", 1);
    setenv("GITHUB_TOKEN", "ghp_x", 1);
    unsetenv("API_BASE_URL");
    unsetenv("DB_PASSWORD");
}

TestSuite(samples, .init = set_variables);

Test(samples, claude_desktop)
{
    static const char *const problems[] = {"", "", ""};
    mcpump_config *config = load("claude_desktop_config.json");
    expect_words(config, problems, COUNT(problems));
    cr_expect_eq(mcpump_config_warning_count(config), 0, "%s", mcpump_config_warning(config, 0));
    const mcpump_transport_options *options = first(config);
    cr_expect_str_eq(options->command, "npx");
    cr_expect_str_eq(show_list(options->args),
                     "-y @modelcontextprotocol/server-filesystem /srv/documents /srv/downloads ");
    options = &mcpump_config_options(config, 1)->transport;
    cr_expect_str_eq(options->display_name, "github");
    cr_expect_str_eq(show_secrets(options), "GITHUB_PERSONAL_ACCESS_TOKEN=ghp_not_a_token ");
    mcpump_config_free(config);
}

Test(samples, mcp_json)
{
    static const char *const problems[] = {
        "", "12: mcpServers.remote.url: remote servers are not supported",
        ("21: mcpServers.database.env.DB_PASSWORD: the variable DB_PASSWORD is not set, and no "
         "default is given")};
    mcpump_config *config = load(".mcp.json");
    expect_words(config, problems, COUNT(problems));
    cr_expect_eq(mcpump_config_warning_count(config), 0, "%s", mcpump_config_warning(config, 0));
    const mcpump_transport_options *options = first(config);
    cr_expect_str_eq(show_list(options->args),
                     "--api https://api.example.com --cache /srv/me/.cache ");
    cr_expect_str_eq(show_secrets(options), "TOKEN=ghp_x ");
    mcpump_config_free(config);
}

Test(samples, vscode)
{
    static const char *const problems[] = {
        ("22: servers.perplexity.env.PERPLEXITY_API_KEY: ${input:perplexity-key}: inputs are asked "
         "for by VS Code only"),
        "", "39: servers.copilot.url: remote servers are not supported"};
    mcpump_config *config = load(".vscode/mcp.json");
    expect_words(config, problems, COUNT(problems));
    cr_expect_eq(mcpump_config_warning_count(config), 0, "%s", mcpump_config_warning(config, 0));
    const mcpump_transport_options *options = &mcpump_config_options(config, 1)->transport;
    const char *data = getenv("MCPUMP_TEST_DATA");
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s/config", data);
    cr_expect_str_eq(options->cwd, folder);
    cr_expect_str_eq(options->args[1] + strlen(folder), "/server.py");
    cr_expect_str_eq(show_secrets(options), "DEBUG=1 PORT=8080 GREETING=good day LEVEL=info ");
    cr_expect_str_eq(show_list(options->unset_env), "TERM ");
    mcpump_config_free(config);
}

Test(samples, cursor)
{
    static const char *const problems[] = {
        "", "13: mcpServers.off.disabled: the entry is switched off",
        "17: mcpServers.events.type: remote servers are not supported"};
    mcpump_config *config = load("cursor.json");
    expect_words(config, problems, COUNT(problems));
    cr_assert_eq(mcpump_config_warning_count(config), 1);
    cr_expect_not_null(strstr(mcpump_config_warning(config, 0),
                              ".json:10: mcpServers.search.timeout: it counts milliseconds"));
    cr_expect_eq(first(config)->default_timeout_ms, 60);
    mcpump_config_free(config);
}

Test(samples, own)
{
    static const char *const problems[] = {"", ""};
    mcpump_config *config = load("servers.json");
    expect_words(config, problems, COUNT(problems));
    cr_expect_eq(mcpump_config_warning_count(config), 0, "%s", mcpump_config_warning(config, 0));
    cr_expect(mcpump_config_is_eager(config, 0));
    cr_expect_not(mcpump_config_is_eager(config, 1));
    cr_expect_eq(mcpump_config_options(config, 0)->max_reconnects, MCPUMP_ZERO);
    cr_expect_eq(mcpump_config_options(config, 1)->connect_timeout_ms, MCPUMP_FOREVER);
    mcpump_config_free(config);
}
