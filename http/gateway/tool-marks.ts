import { LRUCache } from "lru-cache"
import { doorOf, listTools, type ToolList, type ToolListRequest } from "./tool-list.ts"

interface Entry {
  readonly list: Promise<ToolList | undefined>
  readonly askedAt: number
}

const freshMs = 5 * 60_000
/** A tool that the list lacks may have been added since; a machine that did not answer may do so now. */
const askAgainMs = 5_000
const capacity = 2_000

export interface ToolMarksOptions {
  readonly list?: (request: ToolListRequest) => Promise<ToolList>
  readonly now?: () => number
  readonly onFailure?: (error: unknown) => void
}

/**
 * Which tools of a deployment are marked state-changing. The machine is asked when the answer decides about a request,
 * once for all who wait, and its list is kept: a deployment's tools seldom change. Unknown tools have no mark.
 */
export const makeToolMarks = (options: ToolMarksOptions = {}) => {
  const { list = listTools, now = Date.now, onFailure = () => undefined } = options
  const entries = new LRUCache<string, Entry>({ max: capacity })

  const ask = (key: string, request: ToolListRequest): Entry => {
    const answer = list(request).catch((error: unknown) => {
      onFailure(error)
      return undefined
    })
    const entry = { list: answer, askedAt: now() }
    entries.set(key, entry)
    return entry
  }

  /** Those of `tools` that are marked state-changing. */
  return async (
    deploymentId: string,
    tools: ReadonlySet<string>,
    request: ToolListRequest
  ): Promise<ReadonlySet<string>> => {
    const key = `${deploymentId} ${doorOf(request.path)} ${request.envelope?.revision ?? ""}`
    const known = entries.get(key)
    const age = known === undefined ? Infinity : now() - known.askedAt
    let list = known === undefined || age > freshMs ? await ask(key, request).list : await known.list
    if (age > askAgainMs && age <= freshMs && [...tools].some((tool) => list?.has(tool) !== true)) {
      list = await ask(key, request).list
    }
    return new Set([...tools].filter((tool) => list?.get(tool) === true))
  }
}
export type ToolMarks = ReturnType<typeof makeToolMarks>
