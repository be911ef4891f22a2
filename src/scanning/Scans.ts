import { CurrentSettings } from "#src/config/Settings.ts"
import { newUlid } from "#src/shared/ids.ts"
import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { type PageRequest, paginate } from "#src/shared/paging.ts"
import { Effect, Option } from "effect"
import { countsOf, type Severity } from "./Finding.ts"
import { arranged } from "./findings.ts"
import { type Driver, ScanError } from "./Scanner.ts"
import { type ScanRow, ScansRepo, withoutPosition } from "./ScansRepo.ts"

/** A scan of an image holds for so long: new vulnerabilities become known every day. */
const reuseHours = 24
/** Each holds the packages of an image, or runs a program that does. */
const atOnce = 2
/** What is kept of one image; the counts are of all. */
const mostFindings = 20_000

/** A scan, and what it did not look at when it was made now. */
export interface Scanned {
  readonly scan: ScanRow
  readonly isReused: boolean
  readonly notes: ReadonlyArray<string>
}

export interface VulnerabilitiesRequest extends PageRequest {
  readonly severity?: Severity
}

/** Scans images, and keeps what was found. */
export class Scans extends Effect.Service<Scans>()("scanning/Scans", {
  effect: Effect.gen(function*() {
    const { scanning } = yield* CurrentSettings
    const repo = yield* ScansRepo
    /** Of two deployments of one image the second takes what the first has found. */
    const turn = keyedMutex()
    const places = yield* Effect.makeSemaphore(atOnce)

    const scanNow = Effect.fn("Scans.scanNow")(function*(driver: Driver, digest: string): Effect.fn.Return<
      Scanned,
      ScanError
    > {
      const { seconds } = scanning
      const report = yield* driver.scan(digest).pipe(
        Effect.timeoutFail({
          duration: `${seconds} seconds`,
          onTimeout: () => new ScanError({ message: `it took longer than the ${seconds} seconds of SCAN_SECONDS` })
        }),
        // A fault of the scanner's code is a scan that failed, not a deployment that did.
        Effect.catchAllDefect((defect) =>
          Effect.zipRight(
            Effect.logError(`The scan of ${digest} met a defect`, defect),
            new ScanError({ message: "an internal error of the platform" })
          )
        )
      )
      const findings = arranged(report.findings)
      const counts = countsOf(findings)
      const scan = yield* repo.put({
        id: newUlid(),
        digest,
        scanner: driver.name,
        counts,
        findings: findings.slice(0, mostFindings)
      })
      const cut = findings.length > mostFindings ? [`only the worst ${mostFindings} vulnerabilities are listed`] : []
      return { scan, isReused: false, notes: [...report.notes, ...cut] }
    })

    /** The vulnerabilities of an image of the local store, found within the last day. */
    const scan = Effect.fn("Scans.scan")((driver: Driver, digest: string): Effect.Effect<Scanned, ScanError> =>
      Effect.flatMap(
        repo.recent(digest, driver.name, reuseHours),
        Option.match({
          onSome: (scan) => Effect.succeed<Scanned>({ scan, isReused: true, notes: [] }),
          onNone: () => places.withPermits(1)(scanNow(driver, digest))
        })
      ).pipe(turn(digest))
    )

    return {
      scan,

      /** Its worst findings. */
      worst: (scanId: string) => Effect.map(repo.page(scanId, undefined, -1, 10), (rows) => rows.map(withoutPosition)),

      /** The worst first; of a deployment without a scan nothing. */
      list: Effect.fn("Scans.list")(function*(
        deploymentId: string,
        scanId: string | null,
        { severity, ...request }: VulnerabilitiesRequest
      ) {
        const page = yield* paginate({
          list: `vulnerabilities ${deploymentId} ${severity ?? ""}`,
          request,
          isKey: (text) => /^\d{1,7}$/.test(text),
          read: (after, count) =>
            scanId === null ? Effect.succeed([]) : repo.page(scanId, severity, Number(after ?? -1), count),
          keyOf: ({ position }) => String(position),
          total: () => scanId === null ? Effect.succeed(0) : repo.total(scanId, severity)
        })
        return { data: page.data.map(withoutPosition), meta: { ...page.meta, scanned: scanId !== null } }
      }),

      /** Deletes scans that nobody needs any longer. */
      forget: repo.forget(reuseHours + 1)
    } as const
  })
}) {}
