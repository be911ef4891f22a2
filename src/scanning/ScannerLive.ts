import { SettingError } from "#src/config/read-setting.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { StoredImages } from "#src/images/StoredImages.ts"
import { Deferred, Effect, Either, Layer, Ref, Schedule } from "effect"
import { osvApi } from "./osv/Api.ts"
import { osvDriver } from "./osv/osv-driver.ts"
import { type Driver, Scanner } from "./Scanner.ts"
import { onPath } from "./trivy/run-trivy.ts"
import { trivyDriver } from "./trivy/trivy-driver.ts"

const fixed = (driver: Driver | undefined, absence: string) =>
  Scanner.of({ driver: Effect.succeed(driver), current: Effect.succeed(driver), absence: Effect.succeed(absence) })

/** A deployment waits so long for the first look at OSV: it takes a few seconds, and begins at the platform's start. */
const moment = "1 second"
/** OSV that is away at the start may be there later. */
const lookAgain = Schedule.spaced("10 minutes")

/**
 * OSV once it answers. Looked for in the background, because neither a start nor a deployment may wait for a network
 * that may not be there.
 */
const osvWhenThere = Effect.fn("Scanner.osvWhenThere")(function*(address: string, driver: Driver, { answers }: {
  readonly answers: ReturnType<typeof osvApi>["answers"]
}) {
  const looked = yield* Deferred.make<void>()
  const isThere = yield* Ref.make(false)
  const look = Effect.gen(function*() {
    const found = yield* Effect.either(answers)
    const isFirst = yield* Deferred.succeed(looked, undefined)
    if (Either.isRight(found)) {
      yield* Ref.set(isThere, true)
      yield* Effect.log(`Images are scanned for vulnerabilities by OSV: ${address} learns which packages they have`)
    } else if (isFirst) {
      yield* Effect.log(`Images are not scanned for vulnerabilities: Trivy is not on PATH, and ${found.left.message}`)
    }
    return Either.isRight(found)
  })
  yield* Effect.forkScoped(Effect.repeat(look, { schedule: lookAgain, until: (found) => found }))
  const waited = Effect.ignore(Effect.timeout(Deferred.await(looked), moment))
  const current = Effect.map(Ref.get(isThere), (found) => found ? driver : undefined)
  return Scanner.of({
    driver: Effect.zipRight(waited, current),
    current,
    absence: Effect.succeed(`Trivy is not on PATH, and OSV (${address}) does not answer`)
  })
})

/** The scanner that the settings name; `auto` takes Trivy where it is, else OSV where it answers. */
export const ScannerLive = Layer.scoped(
  Scanner,
  Effect.gen(function*() {
    const { scanning } = yield* CurrentSettings
    const { environment, osvUrl, scanner } = scanning
    const images = yield* StoredImages
    if (scanner === "none") return fixed(undefined, "no scanner is set up")
    const api = osvApi(osvUrl)
    const osv = osvDriver(api, images)
    if (scanner === "osv") {
      yield* Effect.log(`Images are scanned for vulnerabilities by OSV: ${osvUrl} learns which packages they have`)
      return fixed(osv, "")
    }
    const program = yield* Effect.promise(() => onPath("trivy", environment["PATH"] ?? ""))
    if (program !== undefined) {
      yield* Effect.log(`Images are scanned for vulnerabilities by Trivy (${program})`)
      return fixed(trivyDriver(program, scanning, images), "")
    }
    if (scanner === "trivy") {
      return yield* new SettingError({ message: "SCANNER is \"trivy\", but no program of that name is on PATH" })
    }
    return yield* osvWhenThere(osvUrl, osv, api)
  })
)
