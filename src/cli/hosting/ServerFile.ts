import { runFields } from "#src/deployments/run-options.ts"
import { Region } from "#src/plans/Plan.ts"
import { EgressInput } from "#src/servers/Egress.ts"
import { Cpu, GuestMonthPercent, HealthPath, HealthTimeoutSeconds, RetentionCount, Slug } from "#src/servers/Server.ts"
import { Input, List, Name, optional, Text } from "#src/shared/text.ts"
import { JSONSchema, Record, Schema } from "effect"

/** Megabytes by what the file calls them. */
export const memories = {
  "256mb": 256,
  "512mb": 512,
  "1024mb": 1024,
  "1gb": 1024,
  "2048mb": 2048,
  "2gb": 2048
} as const
type Memory = keyof typeof memories
const Memory = Schema.Literal(...Object.keys(memories) as [Memory, ...Array<Memory>])

const VariableName = Text(255).pipe(
  Schema.pattern(/^[A-Z_][A-Z0-9_]*$/, { message: () => "must be a variable's name, such as API_KEY" })
)

const described = <A, I, R>(schema: Schema.Schema<A, I, R>, description: string) =>
  optional(schema.annotations({ description }))

// What is resolved anew is said once, on the command line.
const { freshDependencies: _, packageScripts, ...run } = runFields

const tables = {
  project: Input({ name: Name.annotations({ description: "The project; it is created if there is none" }) }),
  server: Input({
    name: Name.annotations({ description: "The server in that project; it is created if there is none" }),
    slug: described(Slug, "The first part of a new server's address; made from its name when left out"),
    region: described(Region, "Where a new server runs"),
    cpu: described(Cpu, "The size of its machine"),
    memory: described(Memory, "The memory of its machine, such as \"256mb\""),
    image: described(
      Text(1024),
      "What berth deploy takes when it is given nothing: a folder (. or ./name), an OCI image, npm:… or pypi:…"
    ),
    env: described(List(VariableName), "Environment variables that must be set before a deployment"),
    egress: optional(EgressInput),
    guest_requests_per_minute: described(
      Schema.Union(Schema.Int.pipe(Schema.between(1, 100_000)), Schema.Literal("any")),
      "Requests a minute of each caller who is not you, 1 to 100000, or \"any\" for any number"
    ),
    guest_month_percent: optional(GuestMonthPercent),
    registry_credential: described(
      Text(255),
      "The registry credentials that it is deployed with, by their name: berth registries list"
    )
  }),
  health: Input({ path: optional(HealthPath), timeout: optional(HealthTimeoutSeconds) }),
  deploy: Input({
    auto_rollback: described(Schema.Boolean, "Whether the version before goes on serving when a deployment fails"),
    retention_count: optional(RetentionCount),
    ...run,
    package_scripts: packageScripts
  })
}

/** The keys of the file's tables, and under "" the tables. */
export const serverFileKeys: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": Object.keys(tables),
  ...Record.map(tables, ({ fields }) => Object.keys(fields))
}

/** `berth.toml` (contract: Server configuration file keys). What the tables have beyond it are additions. */
export const ServerFile = Input({ ...tables, health: optional(tables.health), deploy: optional(tables.deploy) })
  .annotations({ title: "berth.toml", description: "A server of Berth, as berth deploy creates and updates it" })
export type ServerFile = typeof ServerFile.Type

/** For editors: the same rules as JSON Schema. */
export const serverFileJsonSchema = () => JSONSchema.make(ServerFile)
