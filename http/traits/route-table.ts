import { pathOf } from "#http/connection/path-of.ts"
import { make } from "find-my-way-ts"
import { areaOf } from "./areas.ts"
import { defaults, type Route, type Traits } from "./Traits.ts"

/** A route and its traits. */
export interface RouteEntry {
  readonly method: string
  readonly path: string
  readonly traits: Partial<Traits>
}

/** Paths are case-sensitive (RFC 3986 §6.2.2.1); a parameter may be as long as our longest name. */
export const routing = { caseSensitive: true, maxParamLength: 255 }

const order = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

/**
 * Finds the route of a method and an origin-form target, by the rules of the application's router. For a path with
 * other methods only, the traits are those of the first of them.
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
    const match = find(method, url)
    if (match !== undefined) return match
    const matches = order.flatMap((method) => {
      const route = find(method, url)
      return route === undefined ? [] : [{ method, path: route.path, traits: route.traits }]
    })
    // A path of its own does not have the methods of one with a parameter in its place.
    const own = matches.filter(({ path }) => path === pathOf(url))
    const others = own.length > 0 ? own : matches
    const [first] = others
    if (first === undefined) {
      return { known: false, path: "", allow: [], traits: { ...defaults, ...areaOf(pathOf(url)) } }
    }
    const supported = others.filter(({ traits }) => !traits.alwaysRejects).map(({ method }) => method)
    return {
      known: false,
      path: "",
      allow: supported.length === 0 ? [] : order.filter((method) => method === "OPTIONS" || supported.includes(method)),
      traits: first.traits
    }
  }
}
export type RouteTable = ReturnType<typeof routeTable>
