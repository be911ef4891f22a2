import { LRUCache } from "lru-cache"
import { endpointOf, listTools, type ToolList, type ToolListRequest } from "./tool-list.ts"

interface Entry {
  readonly list: Promise<ToolList | undefined>
  readonly requestedAt: number
}

const freshMs = 5 * 60_000
/** A missing tool may have been added since; a machine that did not answer may do so now. */
const retryMs = 5_000
const capacity = 2_000

export interface ToolMarksOptions {
  readonly list?: (request: ToolListRequest) => Promise<ToolList>
  readonly now?: () => number
  readonly onFailure?: (error: unknown) => void
}

/**
 * Which tools of a deployment are marked state-changing. The list is requested from the machine when a request depends
 * on it, once for all concurrent callers, and cached: a deployment's tools seldom change. Unknown tools have no mark.
 */
export const makeToolMarks = (options: ToolMarksOptions = {}) => {
  const { list = listTools, now = Date.now, onFailure = () => undefined } = options
  const entries = new LRUCache<string, Entry>({ max: capacity })

  const fetchList = (key: string, request: ToolListRequest): Entry => {
    const answer = list(request).catch((error: unknown) => {
      onFailure(error)
      return undefined
    })
    const entry = { list: answer, requestedAt: now() }
    entries.set(key, entry)
    return entry
  }

  /** The `tools` that are marked state-changing. */
  return async (
    deploymentId: string,
    tools: ReadonlySet<string>,
    request: ToolListRequest
  ): Promise<ReadonlySet<string>> => {
    const key = `${deploymentId} ${endpointOf(request.path)} ${request.envelope?.revision ?? ""}`
    const cached = entries.get(key)
    const age = cached === undefined ? Infinity : now() - cached.requestedAt
    let list = cached === undefined || age > freshMs ? await fetchList(key, request).list : await cached.list
    if (age > retryMs && age <= freshMs && [...tools].some((tool) => list?.has(tool) !== true)) {
      list = await fetchList(key, request).list
    }
    return new Set([...tools].filter((tool) => list?.get(tool) === true))
  }
}
export type ToolMarks = ReturnType<typeof makeToolMarks>
