import { type McpFeatures, type McpToolDefinition, noFeatures } from "#src/servers/McpFeatures.ts"
import { promptOf, resourceOf, templateOf } from "./definitions.ts"
import { type Fields, isFields } from "./rpc.ts"
import { type Session } from "./sessions.ts"

/** Of prompts, of resources, and of their templates; more than one page of them is not read. */
const most = 100
/** All definitions of a server together, as JSON. */
const mostBytes = 512 * 1024

/** Where each kind is in the answer to its method. */
const lists = {
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates"
} as const

const firstPage = async <A>({ call }: Session, method: keyof typeof lists, of: (entry: Fields) => A | undefined) => {
  const result = await call(method, {})
  const listed = isFields(result) ? result[lists[method]] : undefined
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

const has = ({ capabilities }: Session, kind: string) => capabilities[kind] !== undefined

/** What a session's server offers beside its tools, as far as it says that it has any. */
export const listFeatures = async (
  session: Session,
  definitions: ReadonlyArray<McpToolDefinition>
): Promise<McpFeatures> => {
  const room = { bytes: mostBytes }
  const tools = within(definitions, room)
  const prompts = has(session, "prompts") ? await firstPage(session, "prompts/list", promptOf).catch(() => []) : []
  const resources = has(session, "resources")
    ? await firstPage(session, "resources/list", resourceOf).catch(() => [])
    : []
  return { ...noFeatures, tools, prompts: within(prompts, room), resources: within(resources, room) }
}

/** Its resource templates, after all else: a server may know no templates, and say so late or never. */
export const listTemplates = async (session: Session, others: McpFeatures): Promise<McpFeatures["templates"]> => {
  if (!has(session, "resources")) return []
  const templates = await firstPage(session, "resources/templates/list", templateOf).catch(() => [])
  return within(templates, { bytes: mostBytes - JSON.stringify(others).length })
}
