import { Environment } from "#src/servers/Environment.ts"
import { EnvironmentVariable, variableFields } from "#src/servers/EnvironmentVariable.ts"
import { Input } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { tool } from "./Tool.ts"

const serverId = { serverId: Schema.String }

export const environmentTools = Effect.map(Environment, (environment) => [
  tool({
    name: "list_env",
    title: "List environment variables",
    description:
      "Lists the names of a server's environment variables, to see what a deploy lacks; set_env adds one. Values are never " +
      "returned.",
    toolset: "deploy",
    effect: "read",
    needs: ["servers:read"],
    params: Input(serverId),
    success: Schema.Struct({ data: Schema.Array(Schema.String) }),
    run: (input) => Effect.map(environment.names(input.serverId), (data) => ({ data }))
  }),
  tool({
    name: "set_env",
    title: "Set an environment variable",
    description: "Creates or replaces an environment variable, encrypted at rest; in effect from the next deploy.",
    toolset: "deploy",
    effect: "update",
    needs: ["servers:write"],
    params: Input({ ...serverId, ...variableFields }),
    success: EnvironmentVariable,
    run: ({ serverId, ...variable }) => Effect.map(environment.set(serverId, variable), (set) => set.variable)
  }),
  tool({
    name: "delete_env",
    title: "Delete an environment variable",
    description: "Deletes an environment variable, whose value can't be read back; in effect from the next deploy.",
    toolset: "deploy",
    effect: "delete",
    needs: ["servers:write"],
    params: Input({ ...serverId, name: Schema.String }),
    run: (input) => environment.remove(input.serverId, input.name)
  })
])
