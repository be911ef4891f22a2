import { Region } from "#src/plans/Plan.ts"
import { ProjectId } from "#src/projects/Project.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Input, Name, optional, Text, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { ByoaConfig } from "./ByoaConfig.ts"
import { Egress, EgressChange, EgressInput } from "./Egress.ts"
import { statuses } from "./transitions.ts"

export const ServerId = Id("ServerId", "Server id, srv_ and a ULID")
export type ServerId = typeof ServerId.Type

export const ServerStatus = Schema.Literal(...statuses, "deleted").annotations({
  description: "provisioning until the first deployment ended; stopped: idle (`asleep`) or by hand; error: its " +
    "deployment failed, or its machine can't be kept running"
})
export const Cpu = Schema.Literal("shared-1x", "shared-2x", "performance-1x")
const MemoryMb = Schema.Literal(256, 512, 1024, 2048)
const Access = Schema.Literal("public", "owner", "list")

const between = (min: number, max: number) => Schema.Int.pipe(Schema.between(min, max))

const AutoStopSeconds = Schema.NullOr(between(60, 86_400)).annotations({
  description:
    "Seconds without a request or open stream after which the server falls asleep, 60 to 86400; the next request " +
    "wakes it. null: never (paid plans)"
})
export const HealthPath = Text(255).pipe(
  Schema.pattern(/^\/(?!\/)[\w\-.~!$&'()*+,;=:@%/?]*$/, { message: () => "must be a URL path that starts with one /" }),
  Schema.annotations({
    description:
      "The path that answers 200 with JSON when the server is ready. Where /healthz, the default, is a 404, an " +
      "MCP handshake does instead"
  })
)
export const HealthTimeoutSeconds = between(1, 300).annotations({
  description: "Seconds that a new machine has to become healthy, 1 to 300"
})
const RequireMcp = Schema.NullOr(Schema.Boolean).annotations({
  description:
    "Whether a deployment whose MCP handshake fails is a failed one; null: for packages and published businesses"
})

const GuestRequestsPerMinute = Schema.NullOr(between(1, 100_000)).annotations({
  description:
    "Requests a minute of each caller who is not the owner's account, 1 to 100000; null: any number. One above it gets " +
    "429 RATE_LIMITED"
})
export const GuestMonthPercent = between(1, 100).annotations({
  description:
    "How much of the plan's requests of the month each caller who is not the owner's account may use, in percent, and " +
    "for how much of its compute seconds such a caller may keep the server awake; 100: no limit"
})

const RegistryCredential = Schema.NullOr(Text(255)).annotations({
  description: "By its name; null: by the image's host"
})

export const Slug = Schema.String.pipe(
  Schema.filter((text) => isLabel(text) || "must be 1 to 63 lower-case letters, digits and inner hyphens", {
    jsonSchema: { pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" }
  })
)

/** Contract: Platform resources, a server. The address and authorization fields are additions. */
export const Server = Schema.Struct({
  id: ServerId,
  projectId: ProjectId,
  name: Schema.String,
  slug: Schema.String,
  status: ServerStatus,
  asleep: Schema.Boolean.annotations({
    description: "Whether it is stopped because nobody used it for autoStopSeconds: the next request wakes it"
  }),
  subdomain: Schema.String.annotations({ description: "{slug}.{mcp_domain}" }),
  publicUrl: Schema.String.annotations({
    description: "The URL clients are given: the audience of its tokens; MCP is at /mcp or /sse below it"
  }),
  region: Region,
  authMode: Schema.Literal("service_managed", "byoa"),
  byoaConfig: Schema.NullOr(ByoaConfig),
  access: Access,
  allowedEmails: Schema.Array(Schema.String),
  notice: optional(Schema.String.annotations({
    description: "Only while access is list: whom the list lets in"
  })),
  cpu: Cpu,
  memoryMb: MemoryMb,
  autoStopSeconds: AutoStopSeconds,
  healthPath: Schema.String,
  healthTimeoutSeconds: Schema.Int,
  requireMcp: RequireMcp,
  mcpRequired: Schema.Boolean.annotations({
    description:
      "What holds: requireMcp, or where that is null whether the newest image that has not failed is a package " +
      "(npm:, pypi:) or the server speaks for a published business"
  }),
  rollbackOnHealthCheckFailure: Schema.Boolean,
  deploymentRetentionCount: Schema.Int,
  deploymentsKept: Schema.Int.annotations({
    description: "Versions that the plan keeps for a rollback: the lower of the two numbers holds"
  }),
  egress: Egress,
  guestRequestsPerMinute: GuestRequestsPerMinute,
  guestMonthPercent: GuestMonthPercent,
  registryCredential: Schema.NullOr(Schema.String).annotations({
    description: "The registry credentials that it is deployed with; null: those of its image's host"
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotations({ title: "Server" })
export type Server = typeof Server.Type

export const ServerRow = Schema.Struct({
  ...Server.omit("asleep", "subdomain", "publicUrl", "notice", "mcpRequired", "deploymentsKept").fields,
  /** Null is the plan's default. */
  egress: Schema.NullOr(Egress),
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf,
  replayToken: Schema.String,
  activeDeploymentId: Schema.NullOr(Schema.String),
  generation: Schema.Int,
  /** Since when it is stopped for idleness; null: it is not. */
  asleepAt: Schema.NullOr(Schema.DateFromSelf),
  /** Attempts to wake it that failed in a row. */
  wakeFailures: Schema.Int
})
export type ServerRow = typeof ServerRow.Type

const withDefault = <A, I, R>(schema: Schema.Schema<A, I, R>, value: NoInfer<A>) =>
  Schema.optionalWith(schema, { exact: true, default: () => value })

/** What a new server has where nothing else was said. */
export const newServer = {
  region: "ord",
  cpu: "shared-1x",
  memoryMb: 256,
  autoStopSeconds: 300,
  healthPath: "/healthz",
  healthTimeoutSeconds: 30,
  rollbackOnHealthCheckFailure: true,
  deploymentRetentionCount: 10,
  guestRequestsPerMinute: 60,
  guestMonthPercent: 10
} as const

/** Fields of a new server, flat, so that the tool can add `projectId`. */
export const createFields = {
  name: Name,
  slug: optional(Slug),
  region: withDefault(Region, newServer.region),
  cpu: withDefault(Cpu, newServer.cpu),
  memoryMb: withDefault(MemoryMb, newServer.memoryMb),
  autoStopSeconds: withDefault(AutoStopSeconds, newServer.autoStopSeconds),
  healthPath: withDefault(HealthPath, newServer.healthPath),
  healthTimeoutSeconds: withDefault(HealthTimeoutSeconds, newServer.healthTimeoutSeconds),
  requireMcp: withDefault(RequireMcp, null),
  egress: optional(EgressInput),
  guestRequestsPerMinute: withDefault(GuestRequestsPerMinute, newServer.guestRequestsPerMinute),
  guestMonthPercent: withDefault(GuestMonthPercent, newServer.guestMonthPercent),
  registryCredential: optional(RegistryCredential)
}
export const CreateServer = Input(createFields)

export const RetentionCount = between(1, 100).annotations({
  description: "Versions that are kept for a rollback, 1 to 100; the plan's number where that is lower"
})

export const updateFields = {
  name: optional(Name),
  cpu: optional(Cpu),
  memoryMb: optional(MemoryMb),
  autoStopSeconds: optional(AutoStopSeconds),
  rollbackOnHealthCheckFailure: optional(Schema.Boolean),
  deploymentRetentionCount: optional(RetentionCount),
  healthPath: optional(HealthPath),
  healthTimeoutSeconds: optional(HealthTimeoutSeconds),
  requireMcp: optional(RequireMcp),
  egress: optional(EgressChange),
  guestRequestsPerMinute: optional(GuestRequestsPerMinute),
  guestMonthPercent: optional(GuestMonthPercent),
  registryCredential: optional(RegistryCredential)
}
/** At least one field is required; the service rejects an empty change. */
export const UpdateServer = Input(updateFields)

export class ServerNotFound extends Schema.TaggedError<ServerNotFound>()("ServerNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such server"
  }
}

export class SlugTaken extends Schema.TaggedError<SlugTaken>()("SlugTaken", { slug: Schema.String }, failsWith(409)) {
  override get message() {
    return `The slug ${this.slug} is taken; choose another, or leave it out to get one made from the name`
  }
}
