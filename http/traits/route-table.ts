import { pathOf } from "#http/connection/path-of.ts"
import { make } from "find-my-way-ts"
import { areaOf } from "./areas.ts"
import { defaults, type Route, type Traits } from "./Traits.ts"

/** A route and what is said of it. */
export interface RouteEntry {
  readonly method: string
  readonly path: string
  readonly traits: Partial<Traits>
}

/** Paths are told apart by case (RFC 3986 §6.2.2.1), and a parameter may be as long as the longest name of ours. */
export const routing = { caseSensitive: true, maxParamLength: 255 }

const order = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/**
 * Finds the route of a method and an origin-form target, by the rules of the application's router. Where a path has other
 * methods only, the traits are those of the first of them.
 */
export const routeTable = (entries: ReadonlyArray<RouteEntry>) => {
  const router = make<Route>(routing)
  for (const { method, path, traits } of entries) {
    router.on(method, path as `/${string}`, {
      known: true,
      path,
      allow: [],
      traits: { ...defaults, ...areaOf(path), ...traits }
    })
  }
  const find = (method: string, url: string) => router.find(method === "HEAD" ? "GET" : method, url)?.handler
  return (method: string, url: string): Route => {
    const own = find(method, url)
    if (own !== undefined) return own
    const others = order.flatMap((method) => {
      const route = find(method, url)
      return route === undefined ? [] : [{ method, traits: route.traits }]
    })
    const [first] = others
    if (first === undefined) {
      return { known: false, path: "", allow: [], traits: { ...defaults, ...areaOf(pathOf(url)) } }
    }
    const answered = others.filter(({ traits }) => !traits.refuses).map(({ method }) => method)
    return {
      known: false,
      path: "",
      allow: answered.length === 0 ? [] : order.filter((method) => method === "OPTIONS" || answered.includes(method)),
      traits: first.traits
    }
  }
}
export type RouteTable = ReturnType<typeof routeTable>
