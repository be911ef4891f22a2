import { CurrentSettings } from "#src/config/Settings.ts"
import { refusalBy } from "#src/scanning/block-rule.ts"
import { inWords } from "#src/scanning/Finding.ts"
import { type Driver, ScanError, Scanner } from "#src/scanning/Scanner.ts"
import { Scans } from "#src/scanning/Scans.ts"
import { type LogLevel } from "#src/servers/ServerLog.ts"
import { Effect } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { DeploymentsRepo } from "./DeploymentsRepo.ts"

interface Tell {
  readonly log: (record: DeploymentRow, message: string, level?: LogLevel) => Effect.Effect<void>
  readonly doing: (record: DeploymentRow, line: string) => Effect.Effect<void>
}

/** Scans a deployment's image for vulnerabilities, where there is a scanner, and refuses what SCAN_BLOCK says. */
export const makeScanImage = Effect.gen(function*() {
  const { block } = (yield* CurrentSettings).scanning
  const repo = yield* DeploymentsRepo
  const scanner = yield* Scanner
  const scans = yield* Scans

  const refused = (reason: string) => new ScanError({ message: reason })

  const found = Effect.fnUntraced(function*(record: DeploymentRow, driver: Driver, digest: string, { log }: Tell) {
    const { isReused, notes, scan } = yield* scans.scan(driver, digest)
    yield* repo.setScan(record.id, scan)
    const when = isReused
      ? `scanned by ${driver.title} at ${scan.scannedAt.toISOString()}, not again`
      : `scanned by ${driver.title}`
    yield* log(record, `${when}; vulnerabilities: ${inWords(scan.counts)}`)
    for (const note of notes) yield* log(record, `in the scan, ${note}`)
    return scan
  })

  return Effect.fn("Pipeline.scanImage")(function*<E>(
    record: DeploymentRow,
    digest: string,
    fetch: Effect.Effect<void, E>,
    tell: Tell
  ) {
    const { doing, log } = tell
    if (record.type === "rollback") return yield* log(record, "not scanned again")
    const driver = yield* scanner.driver
    if (driver === undefined) {
      const absence = yield* scanner.absence
      if (block === undefined) return yield* log(record, `not scanned for vulnerabilities: ${absence}`)
      return yield* refused(`SCAN_BLOCK=${block} refuses what was not scanned: ${absence}`)
    }
    yield* doing(record, `getting the image, to scan it with ${driver.title}`)
    yield* fetch
    yield* doing(record, `scanning the image for vulnerabilities with ${driver.title}`)
    const scan = yield* found(record, driver, digest, tell).pipe(
      Effect.catchTag("ScanError", ({ message }) =>
        block === undefined
          ? Effect.as(
            log(record, `not scanned for vulnerabilities: the scan by ${driver.title} failed: ${message}`, "warn"),
            undefined
          )
          : refused(`SCAN_BLOCK=${block} refuses what was not scanned: the scan by ${driver.title} failed: ${message}`))
    )
    if (scan === undefined) return
    const refusal = refusalBy(block, scan.counts, yield* scans.worst(scan.id))
    if (refusal !== undefined) return yield* refused(refusal)
  })
})
