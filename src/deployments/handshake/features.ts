import { readPages } from "#src/routing/list-pages.ts"
import { type McpFeatures, type McpToolDefinition, noFeatures } from "#src/servers/McpFeatures.ts"
import { jsonWeight } from "#src/shared/json-weight.ts"
import { promptOf, resourceOf, templateOf } from "./definitions.ts"
import { isMethodUnknown } from "./failure.ts"
import { type Fields, isFields } from "./rpc.ts"
import { type Session } from "./sessions.ts"

/** Of prompts, of resources, and of their templates. */
const most = 100
/** Of all pages of one of these. */
const mostRead = 4 * 1024 * 1024
/** All definitions of a server together, as JSON. */
const mostBytes = 512 * 1024
/** And what they hold: `[1]` is three bytes, and costs its readers a hundred. */
const mostValues = 10_000

interface Room {
  bytes: number
  values: number
}

const roomBeside = (others: unknown): Room => ({
  bytes: mostBytes - JSON.stringify(others).length,
  values: mostValues - jsonWeight(others).nodes
})

/** What a server offers, and what of it was left out, as parts of the report's `problem`. */
export interface Listed<A> {
  readonly kept: A
  readonly notes: ReadonlyArray<string>
}

/** Where each kind is in the answer to its method, and what it is called. */
const lists = {
  "prompts/list": { field: "prompts", name: "prompts" },
  "resources/list": { field: "resources", name: "resources" },
  "resources/templates/list": { field: "resourceTemplates", name: "resource templates" }
} as const

/** Those that come first, without those for which no room is left. */
const within = <A>(list: ReadonlyArray<A>, room: Room) =>
  list.filter((one) => {
    const { length } = JSON.stringify(one)
    const { nodes } = jsonWeight(one)
    if (length > room.bytes || nodes > room.values) return false
    room.bytes -= length
    room.values -= nodes
    return true
  })

const tooLarge = (dropped: number, name: string) =>
  dropped === 0 ? [] : [
    `${dropped} of the ${name} are left out: all definitions together may have ${mostBytes / 1024} KiB and ` +
    `${mostValues} values`
  ]

const listed = async <A>(
  { call }: Session,
  method: keyof typeof lists,
  of: (entry: Fields) => A | undefined,
  room: Room
): Promise<Listed<ReadonlyArray<A>>> => {
  const { field, name } = lists[method]
  const pages: Array<ReadonlyArray<unknown>> = []
  const isWhole = await readPages(
    // A server that has resources need not know templates.
    (params) => call(method, params).catch((error: unknown) => isMethodUnknown(error) ? { [field]: [] } : undefined),
    (page) => {
      const entries = isFields(page) ? page[field] : undefined
      if (!Array.isArray(entries)) return false
      pages.push(entries)
      return pages.reduce((sum, { length }) => sum + length, 0) <= most
    },
    mostRead
  )
  if (pages.length === 0) return { kept: [], notes: [`${method} gave no list, so no ${name} are known`] }
  const first = pages.flat().slice(0, most)
  const usable = first.flatMap((entry) => (isFields(entry) ? of(entry) : undefined) ?? [])
  const kept = within(usable, room)
  const unusable = first.length - usable.length
  const notes = [
    ...(isWhole ? [] : [`not all of the ${name} are read, but ${most} at most, of 4 MiB together and no page twice`]),
    ...(unusable === 0 ? [] : [`${unusable} of the ${name} are left out: they are not what MCP asks for, or too long`]),
    ...tooLarge(usable.length - kept.length, name)
  ]
  return { kept, notes }
}

const toolsWithin = (definitions: ReadonlyArray<McpToolDefinition>, room: Room) => {
  const kept = within(definitions, room)
  return { kept, notes: tooLarge(definitions.length - kept.length, "tools' definitions") }
}

/** Tools alone, where the rest could not be listed in time. */
export const toolsAlone = (definitions: ReadonlyArray<McpToolDefinition>): Listed<McpFeatures> => {
  const { kept, notes } = toolsWithin(definitions, roomBeside([]))
  const late = "prompts and resources were not listed in time, so none are known"
  return { kept: { ...noFeatures, tools: kept }, notes: [...notes, late] }
}

const has = ({ capabilities }: Session, kind: string) => capabilities[kind] !== undefined

const nothing = { kept: [], notes: [] }

/** What a session's server offers beside its tools: the kinds that its capabilities name. */
export const listFeatures = async (
  session: Session,
  definitions: ReadonlyArray<McpToolDefinition>
): Promise<Listed<McpFeatures>> => {
  const room = roomBeside([])
  const tools = toolsWithin(definitions, room)
  const prompts = has(session, "prompts") ? await listed(session, "prompts/list", promptOf, room) : nothing
  const resources = has(session, "resources") ? await listed(session, "resources/list", resourceOf, room) : nothing
  return {
    kept: { ...noFeatures, tools: tools.kept, prompts: prompts.kept, resources: resources.kept },
    notes: [tools, prompts, resources].flatMap(({ notes }) => notes)
  }
}

/** Its resource templates, after all else: a server may know no templates, and say so late or never. */
export const listTemplates = async (
  session: Session,
  others: McpFeatures
): Promise<Listed<McpFeatures["templates"]>> =>
  has(session, "resources")
    ? await listed(session, "resources/templates/list", templateOf, roomBeside(others))
    : nothing
