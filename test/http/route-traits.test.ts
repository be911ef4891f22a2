import { routeTable } from "#http/traits/route-table.ts"
import { defaults } from "#http/traits/Traits.ts"
import { asBadQuery } from "#src/shared/query-parameters.ts"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { routeList } from "../support/route-list.ts"

describe("traits of routes", () => {
  it.scopedLive("every route has exactly one entry, and every entry a route", () =>
    Effect.gen(function*() {
      const { described: entries, routes } = yield* routeList
      const named = (all: Iterable<{ readonly method: string; readonly path: string }>) =>
        Array.from(all, ({ method, path }) => `${method} ${path}`).toSorted()
      const described = named(entries)
      expect(described).toEqual(named(routes))
      expect(new Set(described).size).toBe(described.length)
      expect(described.length).toBeGreaterThan(90)
    }))

  const ofHub = { ...defaults, codes: "lower", wrongQuery: asBadQuery }
  const table = routeTable([
    { method: "GET", path: "/v1/hub/things/:id", traits: { rate: "directory" } },
    { method: "DELETE", path: "/v1/hub/things/:id", traits: {} },
    { method: "POST", path: "/v1/things", traits: { body: "form" } },
    { method: "GET", path: "/v1/things", traits: { alwaysRejects: true } }
  ])

  it("a route's go before its area's, and its area's before the defaults", () => {
    expect(table("GET", "/v1/hub/things/7?a=b")).toEqual({
      known: true,
      path: "/v1/hub/things/:id",
      allow: [],
      traits: { ...ofHub, rate: "directory" }
    })
    expect(table("HEAD", "/v1/hub/things/7").traits.rate).toBe("directory")
    expect(table("DELETE", "/v1/hub/things/7").traits).toEqual(ofHub)
  })

  it("where nothing is, those of the area count, and where nothing takes the method, those of one that does", () => {
    expect(table("GET", "/v1/hub/none")).toEqual({
      known: false,
      path: "",
      allow: [],
      traits: ofHub
    })
    expect(table("GET", "/v1/hubs").traits).toEqual(defaults)
    expect(table("PUT", "/v1/hub/things/7")).toEqual({
      known: false,
      path: "",
      allow: ["GET", "HEAD", "DELETE", "OPTIONS"],
      traits: { ...ofHub, rate: "directory" }
    })
  })

  it("a route that is there to refuse is not named among what is allowed", () => {
    expect(table("PUT", "/v1/things").allow).toEqual(["POST", "OPTIONS"])
    expect(table("GET", "/v1/things").known).toBe(true)
  })
})
