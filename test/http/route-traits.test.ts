import { contractRoutes } from "#http/api/contract-routes.ts"
import { RoutesLive } from "#http/front/Server.ts"
import { RawRoutes } from "#http/traits/RawRoutes.ts"
import { routeTable } from "#http/traits/route-table.ts"
import { defaults } from "#http/traits/Traits.ts"
import { platformOn } from "#src/Platform.ts"
import { HttpApiBuilder } from "@effect/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { describe } from "vitest"
import { freshDatabaseUrl } from "../support/Database.ts"
import { freePort } from "../support/http.ts"
import { NoMachines } from "../support/no-machines.ts"
import { settingsTest } from "../support/Settings.ts"

const settings = Layer.unwrapEffect(
  Effect.map(
    Effect.zip(freshDatabaseUrl, Effect.promise(freePort)),
    ([url, port]) => settingsTest({ DATABASE_URL: url, PORT: String(port), COMPUTE_DRIVER: "sandbox" })
  )
)

describe("traits of routes", () => {
  it.scopedLive("every route has exactly one entry, and every entry a route", () =>
    Effect.gen(function*() {
      const { routes } = yield* HttpApiBuilder.Router.router
      const { entries } = yield* RawRoutes
      const named = (all: Iterable<{ readonly method: string; readonly path: string }>) =>
        Array.from(all, ({ method, path }) => `${method} ${path}`).toSorted()
      const described = named([...contractRoutes(), ...entries])
      expect(described).toEqual(named(routes))
      expect(new Set(described).size).toBe(described.length)
      expect(described.length).toBeGreaterThan(90)
    }).pipe(Effect.provide(RoutesLive.pipe(Layer.provide(platformOn(NoMachines)), Layer.provide(settings)))))

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
      traits: { ...defaults, codes: "lower", rate: "directory" }
    })
    expect(table("HEAD", "/v1/hub/things/7").traits.rate).toBe("directory")
    expect(table("DELETE", "/v1/hub/things/7").traits).toEqual({ ...defaults, codes: "lower" })
  })

  it("where nothing is, those of the area count, and where nothing takes the method, those of one that does", () => {
    expect(table("GET", "/v1/hub/none")).toEqual({
      known: false,
      path: "",
      allow: [],
      traits: { ...defaults, codes: "lower" }
    })
    expect(table("GET", "/v1/hubs").traits).toEqual(defaults)
    expect(table("PUT", "/v1/hub/things/7")).toEqual({
      known: false,
      path: "",
      allow: ["GET", "HEAD", "DELETE", "OPTIONS"],
      traits: { ...defaults, codes: "lower", rate: "directory" }
    })
  })

  it("a route that is there to refuse is not named among what is allowed", () => {
    expect(table("PUT", "/v1/things").allow).toEqual(["POST", "OPTIONS"])
    expect(table("GET", "/v1/things").known).toBe(true)
  })
})
