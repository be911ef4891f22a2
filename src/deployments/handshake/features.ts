import { type McpFeatures, type McpToolDefinition, noFeatures } from "#src/servers/McpFeatures.ts"
import { promptOf, resourceOf } from "./definitions.ts"
import { type Fields, isFields } from "./rpc.ts"
import { type Session } from "./sessions.ts"

/** Of prompts, and of resources; more than one page of them is not read. */
const most = 100
/** All definitions of a server together, as JSON. */
const mostBytes = 512 * 1024

const firstPage = async <A>({ call }: Session, kind: "prompts" | "resources", of: (entry: Fields) => A | undefined) => {
  const result = await call(`${kind}/list`, {})
  const listed = isFields(result) ? result[kind] : undefined
  const entries: ReadonlyArray<unknown> = Array.isArray(listed) ? listed : []
  return entries.slice(0, most).flatMap((entry) => (isFields(entry) ? of(entry) : undefined) ?? [])
}

/** Those that come first, until they are too large together. */
const within = <A>(list: ReadonlyArray<A>, room: { bytes: number }) =>
  list.filter((one) => (room.bytes -= JSON.stringify(one).length) >= 0)

/** Tools alone, where the rest could not be listed in time. */
export const toolsAlone = (definitions: ReadonlyArray<McpToolDefinition>): McpFeatures => ({
  ...noFeatures,
  tools: within(definitions, { bytes: mostBytes })
})

/** What a session's server offers beside its tools, as far as it says that it has any. */
export const listFeatures = async (
  session: Session,
  definitions: ReadonlyArray<McpToolDefinition>
): Promise<McpFeatures> => {
  const room = { bytes: mostBytes }
  const has = (kind: string) => session.capabilities[kind] !== undefined
  const tools = within(definitions, room)
  const prompts = has("prompts") ? await firstPage(session, "prompts", promptOf).catch(() => []) : noFeatures.prompts
  const resources = has("resources")
    ? await firstPage(session, "resources", resourceOf).catch(() => [])
    : noFeatures.resources
  return { tools, prompts: within(prompts, room), resources: within(resources, room) }
}
