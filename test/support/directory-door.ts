import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { expect } from "vitest"
import { type Account } from "./account.ts"
import { type Business, businesses, newBusiness } from "./business.ts"
import { outputValidators } from "./output-validators.ts"
import { runSql } from "./sql.ts"

/** The SDK's own client at the directory's door, without a credential; each has an address of its own. */
export const connectDirectory = async (base: string, headers: Readonly<Record<string, string>> = {}) => {
  const client = new Client({ name: "test", version: "1.0.0" }, { jsonSchemaValidator: outputValidators })
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp/directory`), { requestInit: { headers } })
  // The SDK's transports predate `exactOptionalPropertyTypes`.
  await client.connect(transport as Transport)
  return client
}

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
export const always = Object.fromEntries(days.map((day) => [day, { open: "00:00", close: "24:00" }]))
export const never = Object.fromEntries(days.map((day) => [day, "closed"]))

/** A business that the directory shows. */
export const shownBusiness = async (
  owner: Account,
  fields: Readonly<Record<string, unknown>>,
  profile: Readonly<Record<string, unknown>> = {}
): Promise<Business> => {
  const business = await newBusiness(owner, fields)
  if (Object.keys(profile).length > 0) await owner.patch(`${businesses}/${business.id}`, profile)
  await owner.patch(`/v1/directory/${business.listingId}`, { visible: true })
  return business
}

export const setAgentAccess = (owner: Account, { id }: Business, agentAccess: boolean) =>
  owner.patch(`${businesses}/${id}/listing`, { agentAccess })

/** Until every transaction of the cluster that began before has ended, as the feed does: other tests run on it, too. */
export const pastOthers = async (databaseUrl: string) => {
  const [now] = await runSql(databaseUrl, "SELECT pg_current_xact_id()::text AS xid")
  const ended = () =>
    runSql(databaseUrl, "SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 AS ended", [now?.["xid"]])
  await expect.poll(ended, { timeout: 15_000, interval: 20 }).toEqual([{ ended: true }])
}
