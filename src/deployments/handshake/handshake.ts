import { type McpFeatures, noFeatures } from "#src/servers/McpFeatures.ts"
import { type McpReport } from "../McpReport.ts"
import { type Door } from "./door.ts"
import { HandshakeFailed } from "./failure.ts"
import { listFeatures, listTemplates, toolsAlone } from "./features.ts"
import { legacy, type Session, streamable } from "./sessions.ts"
import { listTools } from "./tools.ts"
import { type Circumstances, isGuarded, leftOut, nowhere, problemOf } from "./words.ts"

/** The report, and what composites need to call the server. */
export interface Found extends McpReport {
  readonly features: McpFeatures
  /** It did not work for want of a token of the server's own issuer, which says nothing against the server. */
  readonly isGuarded: boolean
}

interface Problem {
  readonly problem: string
  readonly isGuarded: boolean
}

const failed = ({ isGuarded, problem }: Problem, session?: Session): Found => ({
  ok: false,
  transport: session?.transport ?? null,
  revision: session?.revision ?? null,
  toolCount: 0,
  tools: [],
  features: noFeatures,
  isGuarded,
  problem
})

/** The status of a path where nothing is: not that of an address which an event stream has named. */
const absent = ({ cause, method, path }: HandshakeFailed) =>
  cause._tag === "Status" && [404, 405].includes(cause.status) && (path === "/mcp" || method === "endpoint")
    ? cause.status
    : undefined

/** Tries `/mcp`, then `/sse`, and lists the tools. Never rejects; within `deadline` it has an answer. */
export const handshake = async (
  door: Door,
  circumstances: Circumstances,
  interrupted: AbortSignal
): Promise<Found> => {
  const deadline = AbortSignal.timeout(circumstances.seconds * 1000)
  const finished = new AbortController()
  const signal = AbortSignal.any([deadline, interrupted, finished.signal])
  const late = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  late.catch(() => undefined)

  /** Races the deadline itself: an answer that drips may never let its reader see the signal. */
  const attempt = <A>(path: string, method: string, work: Promise<A>): Promise<A | HandshakeFailed> =>
    Promise.race([work, late]).catch((error: unknown) =>
      signal.aborted
        ? new HandshakeFailed({ path, method, cause: { _tag: "Silent" } })
        : error instanceof HandshakeFailed
        ? error
        : new HandshakeFailed({ path, method, cause: { _tag: "Lost", why: String(error) } })
    )

  const told = (failure: HandshakeFailed): Problem => ({
    problem: problemOf(failure, circumstances),
    isGuarded: isGuarded(failure.cause, circumstances.foreignIssuer)
  })

  const open = async (): Promise<Session | Problem> => {
    const first = await attempt("/mcp", "initialize", streamable(door, signal))
    if (!(first instanceof HandshakeFailed)) return first
    if (first.cause._tag === "Silent") return told(first)
    const second = await attempt("/sse", "initialize", legacy(door, signal))
    if (!(second instanceof HandshakeFailed)) return second
    const [mcp, sse] = [absent(first), absent(second)]
    if (mcp !== undefined && sse !== undefined) return { problem: nowhere(mcp, sse), isGuarded: false }
    return told(mcp === undefined ? first : second)
  }

  try {
    const session = await open()
    if ("problem" in session) return failed(session)
    const { end, revision, transport } = session
    const list = await attempt(transport === "sse" ? "/sse" : "/mcp", "tools/list", listTools(session))
    if (list instanceof HandshakeFailed) {
      end()
      return failed(told(list), session)
    }
    const { definitions, tools } = list
    const listed = await attempt("/mcp", "resources/list", listFeatures(session, definitions))
    const others = listed instanceof HandshakeFailed ? toolsAlone(definitions) : listed
    const templates = await attempt("/mcp", "resources/templates/list", listTemplates(session, others.kept))
    end()
    const [features, notes] = templates instanceof HandshakeFailed
      ? [others.kept, others.notes]
      : [{ ...others.kept, templates: templates.kept }, [...others.notes, ...templates.notes]]
    const kept = { toolCount: tools.length, tools, features }
    return { ok: true, transport, revision, ...kept, isGuarded: false, problem: leftOut(list, notes) }
  } finally {
    finished.abort()
  }
}
