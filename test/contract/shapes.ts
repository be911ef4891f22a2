import { expect } from "vitest"

/** ISO 8601 in UTC, with milliseconds. */
export const timestamp: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

export const id = (prefix: string): unknown =>
  expect.stringMatching(new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`))

export const ulid: unknown = expect.stringMatching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
export const text: unknown = expect.any(String)

/** The contract's project, to the field. */
export const project = (fields: Readonly<Record<string, unknown>> = {}) => ({
  id: id("prj"),
  name: text,
  slug: text,
  createdAt: timestamp,
  updatedAt: timestamp,
  ...fields
})

/** A new server with nothing but a name: the contract's fields and defaults, and the fields beside them. */
export const server = (fields: Readonly<Record<string, unknown>> = {}) => ({
  id: id("srv"),
  projectId: id("prj"),
  name: text,
  slug: text,
  status: "provisioning",
  subdomain: text,
  publicUrl: text,
  region: "ord",
  authMode: "service_managed",
  byoaConfig: null,
  access: "public",
  allowedEmails: [],
  cpu: "shared-1x",
  memoryMb: 256,
  asleep: false,
  autoStopSeconds: 300,
  healthPath: "/healthz",
  healthTimeoutSeconds: 30,
  requireMcp: null,
  mcpRequired: false,
  rollbackOnHealthCheckFailure: true,
  deploymentRetentionCount: 10,
  deploymentsKept: 10,
  egress: "none",
  guestRequestsPerMinute: 60,
  guestMonthPercent: 10,
  registryCredential: null,
  createdAt: timestamp,
  updatedAt: timestamp,
  ...fields
})

export const variable = (fields: Readonly<Record<string, unknown>> = {}) => ({
  id: id("env"),
  serverId: id("srv"),
  name: text,
  createdAt: timestamp,
  updatedAt: timestamp,
  ...fields
})

/** A failure's body: the code, some sentence, and the details that are asked for. */
export const failure = (code: string, details?: unknown) => ({
  error: { code, message: expect.stringMatching(/\S/), ...(details === undefined ? {} : { details }) }
})

/** A body that did not fit, at exactly these paths. */
export const invalid = (...paths: ReadonlyArray<string>) =>
  failure("VALIDATION_ERROR", { issues: paths.map((path) => ({ path, message: expect.stringMatching(/\S/) })) })
