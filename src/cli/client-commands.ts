import { type Commands, lazy } from "./command.ts"

/** What speaks to an installation, and needs nothing else of the platform. */
export const clientCommands = {
  login: lazy(
    "Log in to an installation in the browser, or by password; --sign-up opens an account",
    async () => (await import("./login-command.ts")).loginCommand
  ),
  logout: lazy(
    "End what berth login began",
    async () => (await import("./logout-command.ts")).logoutCommand
  ),
  whoami: lazy(
    "Show whose account commands act for, and how you are logged in",
    async () => (await import("./hosting/whoami-command.ts")).whoamiCommand
  ),
  init: lazy(
    "Write a berth.toml, the server's configuration",
    async () => (await import("./hosting/init-command.ts")).initCommand
  ),
  deploy: lazy(
    "Deploy a folder or an image to the server of berth.toml, which is created or updated",
    async () => (await import("./hosting/deploy-command.ts")).deployCommand
  ),
  rollback: lazy(
    "Deploy the stored image of an earlier version again",
    async () => (await import("./hosting/rollback-command.ts")).rollbackCommand
  ),
  servers: lazy(
    "List your servers",
    async () => (await import("./hosting/server-commands.ts")).serversCommand
  ),
  status: lazy(
    "Show a server and its newest deployment",
    async () => (await import("./hosting/server-commands.ts")).statusCommand
  ),
  open: lazy(
    "Open a server's address in a browser, or the installation's documentation with --docs",
    async () => (await import("./hosting/open-command.ts")).openCommand
  ),
  logs: lazy(
    "Print a server's log: its deployments' stages and its own output",
    async () => (await import("./hosting/logs-command.ts")).logsCommand
  ),
  metrics: lazy(
    "Show how much a server is used, how often it fails and how long it takes",
    async () => (await import("./hosting/metrics-command.ts")).metricsCommand
  ),
  env: lazy(
    "Environment variables of a server",
    async () => (await import("./hosting/env-commands.ts")).envCommand
  ),
  registries: lazy(
    "Users and passwords of private image registries",
    async () => (await import("./hosting/registry-commands.ts")).registriesCommand
  ),
  token: lazy(
    "Make an access token of 15 minutes for a server, to try it",
    async () => (await import("./hosting/server-commands.ts")).tokenCommand
  ),
  connect: lazy(
    "Print how each client is set up to use a server, or write the configuration of one",
    async () => (await import("./hosting/connect-command.ts")).connectCommand
  ),
  publish: lazy(
    "Publish a business: its catalog from a file, a server that knows it, a listing",
    async () => (await import("./publish-command.ts")).publishCommand
  ),
  tools: lazy(
    "List the tools of an MCP server",
    async () => (await import("./mcp/commands.ts")).toolsCommand
  ),
  call: lazy(
    "Call a tool of an MCP server",
    async () => (await import("./mcp/commands.ts")).callCommand
  ),
  schema: lazy(
    "Print the JSON Schema of berth.toml, for editors",
    async () => (await import("./hosting/init-command.ts")).schemaCommand
  )
} as const satisfies Commands
