import { parseReference } from "#src/images/reference.ts"
import { Package } from "#src/packages/Package.ts"
import { isPackage } from "#src/packages/reference.ts"
import { ServerId } from "#src/servers/Server.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Input, optional, Text, Timestamp } from "#src/shared/text.ts"
import { Either, Schema, Struct } from "effect"
import { McpReport, McpSummary } from "./McpReport.ts"
import { runFields, storedRunFields } from "./run-options.ts"
import { isSettled, rules, stages, statuses } from "./transitions.ts"

export const DeploymentId = Id("DeploymentId", "Deployment id, dep_ and a ULID")
export type DeploymentId = typeof DeploymentId.Type

export const DeploymentStatus = Schema.Literal(...statuses).annotations({
  description: "rolled_back: a rollback replaced it. One that a later deploy replaced stays running, inactive"
})

/** Vulnerabilities found, by severity: the contract's `trivyScanResult`. */
const ScanCounts = Schema.Struct({ critical: Schema.Int, high: Schema.Int, medium: Schema.Int })

/**
 * Contract: Platform resources, a deployment. `type`, `active`, `imageDigest`, `admittedBy`, `progress`, `mcp` and how it
 * is run are additions to it.
 */
const fields = {
  id: DeploymentId,
  serverId: ServerId,
  status: DeploymentStatus,
  imageUri: Schema.String,
  version: Schema.Int.annotations({ description: "Counts up per server; what rollback takes" }),
  type: Schema.Literal("deploy", "rollback"),
  active: Schema.Boolean.annotations({ description: "Whether this is the deployment that serves" }),
  imageDigest: Schema.NullOr(Schema.String).annotations({
    description: "sha256 digest of the image's manifest; null until it was resolved"
  }),
  ...storedRunFields,
  package: Schema.NullOr(Package).annotations({ description: "What a package was resolved to; null for images" }),
  trivyScanResult: Schema.NullOr(ScanCounts).annotations({
    description: "Vulnerabilities that the image was found to have; null when it was not scanned"
  }),
  errorMessage: optional(Schema.String.annotations({ description: "When failed: the stage, and why" })),
  admittedBy: Schema.NullOr(Schema.Literal("health", "mcp")).annotations({
    description:
      "What let it serve: health (healthPath answered 200 with JSON) or mcp (/healthz answered 404, and the " +
      "MCP handshake passed in its place); null before that"
  }),
  progress: Schema.NullOr(Schema.String).annotations({
    description: "While pending or building: what it does, or waits for; null once it has ended"
  }),
  createdAt: Timestamp,
  deployedAt: Schema.NullOr(Timestamp)
}

const tried = "The MCP handshake with its machine, tried after the health check or in its place; null before that"

/** One deployment, with the tools of its server. */
export const Deployment = Schema.Struct({
  ...fields,
  mcp: Schema.NullOr(McpReport).annotations({ description: tried })
}).annotations({ title: "Deployment" })
export type Deployment = typeof Deployment.Type

/** A deployment in a list: of the tools only their number. */
export const ListedDeployment = Schema.Struct({
  ...fields,
  mcp: Schema.NullOr(McpSummary).annotations({ description: `${tried}. Reading the deployment itself tells the tools` })
}).annotations({ title: "ListedDeployment" })
export type ListedDeployment = typeof ListedDeployment.Type

export const Stage = Schema.Literal(...stages)

export const DeploymentRow = Schema.Struct({
  ...Struct.omit(fields, "trivyScanResult", "errorMessage", "progress"),
  scanResult: Schema.NullOr(ScanCounts),
  scanId: Schema.NullOr(Schema.String),
  errorMessage: Schema.NullOr(Schema.String),
  stage: Stage,
  /** What the stage waits for. */
  note: Schema.NullOr(Schema.String),
  rollbackOf: Schema.NullOr(Schema.String),
  port: Schema.Int,
  createdAt: Schema.DateFromSelf,
  deployedAt: Schema.NullOr(Schema.DateFromSelf)
})
export type DeploymentRow = typeof DeploymentRow.Type

const contractual = (
  { errorMessage, note, port: _, rollbackOf: _r, scanId: _s, scanResult, stage, ...row }: DeploymentRow
): Omit<Deployment, "mcp"> => ({
  ...row,
  progress: isSettled(row.status) ? null : note ?? rules[stage].doing,
  trivyScanResult: scanResult,
  ...(errorMessage === null ? {} : { errorMessage })
})

export const view = (row: DeploymentRow, mcp: McpReport | null): Deployment => ({ ...contractual(row), mcp })

export const listedView = (row: DeploymentRow, mcp: McpSummary | null): ListedDeployment => ({
  ...contractual(row),
  mcp
})

const ImageUri = Text(1024).pipe(
  Schema.filter(
    // Packages have a grammar of their own.
    (text) =>
      isPackage(text) ||
      Either.match(parseReference(text), { onLeft: ({ message }) => message, onRight: () => true }),
    {
      jsonSchema: { minLength: 1 }
    }
  ),
  Schema.annotations({
    description: "registry/name:tag, name@sha256:…, npm:@scope/name@1.2.3, pypi:name==1.2.3, or outside production " +
      "oci:PATH"
  })
)

const Wait = optional(Schema.Boolean).annotations({
  description: "false: answer at once, while the deployment goes on; true by default"
})

/** `POST /v1/servers/:serverId/deploy` */
export const deployFields = { imageUri: ImageUri, ...runFields, wait: Wait }
export const DeployInput = Input(deployFields)

/** `POST /v1/servers/:serverId/rollback` */
export const rollbackFields = {
  version: Schema.Int.pipe(Schema.positive()),
  wait: Wait
}
export const RollbackInput = Input(rollbackFields)

/** The deployment serves, or has failed: there is nothing to cancel (409). */
export class DeploymentEnded extends Schema.TaggedError<DeploymentEnded>()(
  "DeploymentEnded",
  { status: Schema.String },
  failsWith(409, "DEPLOYMENT_ENDED")
) {
  override get message() {
    return `This deployment has ended: it is ${this.status}. To go back to an earlier version use rollback`
  }
}

export class DeploymentInProgress extends Schema.TaggedError<DeploymentInProgress>()(
  "DeploymentInProgress",
  {},
  failsWith(409, "DEPLOYMENT_IN_PROGRESS")
) {
  override get message() {
    return "A deployment of this server is in progress; wait for its end"
  }
}

export class DeploymentNotFound
  extends Schema.TaggedError<DeploymentNotFound>()("DeploymentNotFound", {}, failsWith(404))
{
  override get message() {
    return "There is no such deployment"
  }
}

export class VersionNotFound
  extends Schema.TaggedError<VersionNotFound>()("VersionNotFound", { version: Schema.Number }, failsWith(404))
{
  override get message() {
    return `The server has no version ${this.version}`
  }
}

/** The version exists, but can't be rolled back to (409). */
export class VersionNotKept extends Schema.TaggedError<VersionNotKept>()(
  "VersionNotKept",
  { version: Schema.Number, reason: Schema.String },
  failsWith(409)
) {
  override get message() {
    return `Version ${this.version} can't be rolled back to: ${this.reason}`
  }
}

/** Start, stop or restart of a server without a deployment (409). */
export class NotDeployed extends Schema.TaggedError<NotDeployed>()("NotDeployed", {}, failsWith(409, "NOT_DEPLOYED")) {
  override get message() {
    return "Nothing is deployed to this server yet"
  }
}
