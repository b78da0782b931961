// The client that the conformance suite starts: turns a scenario into command lines of the shipped
// program and runs them one after another. It speaks no MCP itself. The suite gives the scenario's
// name and data in the environment and the server's URL as the last argument.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = process.env.PROGRAM;
const url = process.argv.at(-1);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
// What the program remembers of one scenario's server must not reach the next one on its port.
const home = mkdtempSync(join(tmpdir(), "mini-me-conformance-"));

/** Runs the program and gives back what it printed. */
const run = (...words) => ends(0, ...words);

/** The same with another exit code. Allows less time than the suite does. */
function ends(code, ...words) {
  const line = ["--url", url, "--log-level", "off", ...words];
  const env = { ...process.env, MINI_ME_HOME: home };
  const ended = spawnSync(PROGRAM, line, { env, encoding: "utf8", timeout: 20_000, stdio: ["ignore", "pipe", "pipe"] });
  console.log(`> ${words.join(" ")}\n${ended.stdout}${ended.stderr}`);
  if (ended.status !== code) {
    throw new Error(`exit ${ended.status ?? ended.signal ?? ended.error}: ${words.join(" ")}`);
  }
  return ended.stdout;
}

const call = (tool, args = {}, ...options) => run("call", tool, "--args", JSON.stringify(args), ...options);

const SCENARIOS = {
  initialize: () => run("tools"),
  tools_call: () => call("add_numbers", { a: 2, b: 3 }),
  "elicitation-sep1034-client-defaults": () =>
    call("test_client_elicitation_defaults", {}, "--accept-defaults"),
  "sse-retry": () => call("test_reconnection"),
  "json-schema-2020-12-preservation": () => {
    const { tools } = JSON.parse(run("tools", "--json", "--schemas"));
    const { inputSchema } = tools.find((tool) => tool.name === "json_schema_2020_12_tool");
    call("json_schema_echo", { schema: inputSchema });
  },
  "request-metadata": () => {
    run("servers");
    // Elicitation is declared only where answers are given; the server has no tool to call.
    ends(2, "call", "none", "--accept-defaults");
  },
  "sep-2322-client-request-state": () => {
    call("test_mrtr_echo_state", {}, "--answer", "confirmed=true");
    call("test_mrtr_unrelated");
    call("test_mrtr_no_state", {}, "--answer", "confirmed=true");
    call("test_mrtr_no_result_type");
  },
  "http-standard-headers": () => {
    run("tools");
    call("test_headers");
    call("my-hyphenated-tool");
    run("resources", "list");
    run("resources", "read", "file:///path/to/file%20name.txt");
    run("resources", "read", "https://example.com/resource?id=123");
    run("prompts", "list");
    run("prompts", "get", "test_prompt");
  },
  "http-custom-headers": () => {
    // One argument is null where the schema wants a boolean: exactly these have to be sent.
    for (const { name, arguments: args } of context.toolCalls) call(name, args, "--unchecked");
  },
  "http-invalid-tool-headers": () => call("valid_tool", { region: "us-east-1" }),
  "json-schema-ref-no-deref": () => run("tools"),
};

try {
  const scenario = SCENARIOS[process.env.MCP_CONFORMANCE_SCENARIO];
  if (!scenario) throw new Error(`no command lines for ${process.env.MCP_CONFORMANCE_SCENARIO}`);
  scenario();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}
