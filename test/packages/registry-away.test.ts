import { CurrentSettings } from "#src/config/Settings.ts"
import { imageError } from "#src/images/ImageError.ts"
import { installerOf } from "#src/packages/installers.ts"
import { hostNode } from "#src/packages/machine-node.ts"
import { parsePackage } from "#src/packages/reference.ts"
import { startRegistryProxy } from "#src/packages/registry-proxy.ts"
import { GuardedHttp, HostLookup } from "#src/shared/GuardedHttp.ts"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { request } from "node:http"
import { freePort } from "../support/http.ts"
import { full } from "../support/needs.ts"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"
import { missingPython } from "./support/python-index.ts"

const nowhere = () => Promise.reject(Object.assign(new Error("not found"), { code: "ENOTFOUND" }))
const isAway = Layer.provideMerge(
  Layer.provide(GuardedHttp.Default, Layer.succeed(HostLookup, nowhere)),
  settingsTest({ NPM_REGISTRY: "http://npm.invalid", ALLOWED_PRIVATE_HOSTS: "npm.invalid" })
)

const sentence = (host: string, setting: string, code = "ENOTFOUND") =>
  `${host} could not be reached: ${code}; where this host has no way there, its operator names a mirror in ${setting}`

const lockOf = (imageUri: string) =>
  Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const [folder, work] = [temporaryDirectory(), temporaryDirectory()]
    const place = { settings, http: yield* GuardedHttp, node: hostNode, folder, work }
    return yield* installerOf(yield* Effect.orDie(parsePackage(imageUri)), place).lock
  })

/** As installers ask for https; comes back when the proxy has hung up. */
const connectVia = (proxy: string, path: string) =>
  Effect.async<void>((resume) => {
    request(proxy, { method: "CONNECT", path, agent: false })
      .on("error", () => {})
      .on("close", () => resume(Effect.void))
      .end()
  })

describe("a registry that can't be reached is told with the setting that names another", () => {
  it.effect("of npm", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(lockOf("npm:anything"))).message).toBe(sentence("npm.invalid", "NPM_REGISTRY"))
    }).pipe(Effect.provide(isAway)))

  it.effect.skipIf(!full || missingPython() !== undefined)("of PyPI", () =>
    Effect.gen(function*() {
      expect((yield* Effect.flip(lockOf("pypi:anything"))).message).toBe(sentence("pypi.org", "PYPI_INDEX"))
    }).pipe(Effect.provide(isAway)))

  it.scopedLive("also where it has an address, and nothing listens there", () =>
    Effect.gen(function*() {
      const host = `127.0.0.1:${yield* Effect.promise(freePort)}`
      const explained = Effect.gen(function*() {
        const place = { origins: [`https://${host}`], setting: "PYPI_INDEX" } as const
        const { explain, url } = yield* startRegistryProxy(yield* GuardedHttp, place)
        yield* connectVia(url, host)
        return explain(imageError("invalid_image", "the installer's words"))
      })
      const allowed = Layer.provide(GuardedHttp.Default, settingsTest({ ALLOWED_PRIVATE_HOSTS: host }))
      expect((yield* Effect.provide(explained, allowed)).message).toBe(
        sentence("127.0.0.1", "PYPI_INDEX", "ECONNREFUSED")
      )
    }))
})
