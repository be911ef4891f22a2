import { Count, many, maybe, one, transactionally } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema, Struct } from "effect"
import { Counts, Finding, type Severity } from "./Finding.ts"

export const ScanRow = Schema.Struct({
  id: Schema.String,
  scanner: Schema.String,
  counts: Counts,
  scannedAt: Schema.DateFromSelf
})
export type ScanRow = typeof ScanRow.Type

const VulnerabilityRow = Schema.Struct({ ...Finding.fields, position: Schema.Int })

interface NewScan {
  readonly id: string
  readonly digest: string
  readonly scanner: string
  readonly counts: Counts
  /** The worst first. */
  readonly findings: ReadonlyArray<Finding>
}

export class ScansRepo extends Effect.Service<ScansRepo>()("scanning/ScansRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insert = one(ScanRow)(({ counts, digest, id, scanner }: NewScan) =>
      sql`INSERT INTO image_scans (id, image_digest, scanner, counts)
          VALUES (${id}, ${digest}, ${scanner}, ${JSON.stringify(counts)}::jsonb) RETURNING *`
    )
    const insertFindings = (scanId: string, findings: ReadonlyArray<Finding>) =>
      sql`INSERT INTO image_vulnerabilities
            (scan_id, position, id, aliases, package, version, fixed_version, severity, title, url)
          SELECT ${scanId}, f.position, f.id, f.aliases, f.package, f.version, f.fixed, f.severity, f.title, f.url
          FROM json_to_recordset(${
        JSON.stringify(
          findings.map(({ fixedVersion, ...finding }, position) => ({ ...finding, fixed: fixedVersion, position }))
        )
      }::json) AS f(position integer, id text, aliases jsonb, package text, version text, fixed text, severity text,
            title text, url text)`

    const of = (severity: Severity | undefined): Statement.Fragment =>
      severity === undefined ? sql`` : sql`AND severity = ${severity}`

    return {
      /** The last scan of an image by a scanner, if it is of the last `hours`. */
      recent: maybe(ScanRow)((digest: string, scanner: string, hours: number) =>
        sql`SELECT * FROM image_scans WHERE image_digest = ${digest} AND scanner = ${scanner}
              AND scanned_at > now() - make_interval(hours => ${hours}) ORDER BY scanned_at DESC LIMIT 1`
      ),
      put: (scan: NewScan) =>
        transactionally(sql)(Effect.tap(insert(scan), ({ id }) => insertFindings(id, scan.findings))),
      page: many(VulnerabilityRow)((
        scanId: string,
        severity: Severity | undefined,
        after: number,
        count: number
      ) =>
        sql`SELECT * FROM image_vulnerabilities WHERE scan_id = ${scanId} ${of(severity)} AND position > ${after}
            ORDER BY position LIMIT ${count}`
      ),
      total: one(Count)((scanId: string, severity: Severity | undefined) =>
        sql`SELECT count(*)::int AS count FROM image_vulnerabilities WHERE scan_id = ${scanId} ${of(severity)}`
      ),
      /** Deletes scans that no deployment refers to and that are too old to be reused. */
      forget: (hours: number) =>
        transactionally(sql)(Effect.asVoid(
          sql`DELETE FROM image_scans s WHERE scanned_at < now() - make_interval(hours => ${hours})
              AND NOT EXISTS (SELECT FROM deployments d WHERE d.scan_id = s.id)`
        ))
    } as const
  })
}) {}

export const withoutPosition = (row: typeof VulnerabilityRow.Type): Finding => Struct.omit(row, "position")
