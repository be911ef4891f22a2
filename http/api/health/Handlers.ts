import { apiOf } from "#http/answers/group.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Scanner } from "#src/scanning/Scanner.ts"
import { Health } from "#src/servers/Health.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { HealthApi, type HealthReport } from "./Api.ts"

export const HealthHandlers = HttpApiBuilder.group(apiOf(HealthApi), "health", (handlers) =>
  Effect.gen(function*() {
    const health = yield* Health
    const { driver, guarantees } = yield* Machines
    const { scanning } = yield* CurrentSettings
    const scanner = yield* Scanner

    return handlers.handle("health", () =>
      Effect.gen(function*() {
        const report: typeof HealthReport.Type = {
          ...yield* health.report,
          compute: { driver: driver.name, tier: driver.tier, ...yield* guarantees },
          scanner: { driver: (yield* scanner.current)?.name ?? "none", refuses: scanning.block ?? null }
        }
        const headers = { "cache-control": "no-store" }
        return HttpServerResponse.unsafeJson(report, { status: report.status === "ok" ? 200 : 503, headers })
      }))
  }))
