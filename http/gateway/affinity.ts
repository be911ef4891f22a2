import { type Mark, type Route } from "#src/routing/Route.ts"
import { type Routes } from "#src/routing/Routes.ts"
import { type IncomingMessage } from "node:http"
import { type Answer } from "./answer.ts"
import { rpcIdOf } from "./rpc-id.ts"
import { markOfPath, markOfSessionId } from "./session-tag.ts"

/** The machine whose session the request names; untagged ones are of the active one. */
const markNamed = ({ headers }: IncomingMessage, path: string): Mark | undefined => {
  const id = headers["mcp-session-id"]
  return (typeof id === "string" ? markOfSessionId(id) : undefined) ?? markOfPath(path)
}

/**
 * The route to that machine: the active one, or one that drains. Undefined when it is gone, or was started again, and
 * its sessions with it. A server that was stopped by hand answers as such, whatever its clients remember.
 */
const routeToMark = (route: Route, mark: Mark | undefined): Route | undefined => {
  if (mark === undefined || route.status === "stopped" && !route.asleep) return route
  if (mark.version === route.mark?.version) return mark.run === route.mark.run ? route : undefined
  const found = route.draining.find((draining) =>
    draining.mark.version === mark.version && draining.mark.run === mark.run
  )
  if (found === undefined) return undefined
  const { deploymentId, host, machine } = found
  return { ...route, mark, activeDeploymentId: deploymentId, host, machine, asleep: false, wakeRetrySeconds: 0 }
}

/** A machine that this gateway has not heard of yet: another one may have handed the session out just now. */
const mayBeNews = (route: Route, mark: Mark | undefined) => {
  if (mark === undefined) return false
  const { run, version } = route.mark ?? { version: 0, run: 0 }
  return mark.version > version || mark.version === version && mark.run > run
}

/** Finds the machine of the session that a request names; of the one that serves, when it names none. */
export const makeAffinity = (routes: Pick<Routes, "expire" | "find">) => ({
  /** Undefined: it is gone. */
  find: (route: Route, req: IncomingMessage, path: string): Route | undefined | Promise<Route | undefined> => {
    const mark = markNamed(req, path)
    const to = routeToMark(route, mark)
    if (to !== undefined || !mayBeNews(route, mark)) return to
    routes.expire(route.slug)
    return routes.find(route.slug).then((now) => now && routeToMark(now, mark))
  },
  /** When the machine could not be reached; undefined: nobody knows. */
  findAgain: async ({ slug }: Route, req: IncomingMessage, path: string): Promise<Route | "gone" | undefined> => {
    routes.expire(slug)
    const now = await routes.find(slug).catch(() => undefined)
    return now && (routeToMark(now, markNamed(req, path)) ?? "gone")
  }
})

/** With 404 clients initialize again (MCP 2025-11-25, Session Management); the body is that of the SDK's servers. */
export const sessionGone = (id: string | number | null): Answer => ({
  status: 404,
  body: {
    jsonrpc: "2.0",
    error: {
      code: -32001,
      message: "Session not found: the machine that opened it was replaced, or started again. Initialize again"
    },
    id
  }
})

export const sessionGoneFor = async (req: IncomingMessage) => sessionGone(await rpcIdOf(req))

export type Affinity = ReturnType<typeof makeAffinity>
