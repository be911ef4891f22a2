import { expect } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"

const berth = useBerth()

row(
  "GET /v1/servers/:serverId/deployments/:deploymentId/vulnerabilities → 200 what was found in its image, the most severe first",
  async () => {
    const owner = await berth.signUp()
    const { id } = await owner.server((await owner.project()).id)
    await runSql(
      berth.databaseUrl,
      `WITH scan AS (
         INSERT INTO image_scans (id, image_digest, scanner, counts)
         VALUES ('scan', 'sha256:1', 'osv', '{"critical":1,"high":0,"medium":0,"low":1,"unknown":0}') RETURNING id
       ), found AS (
         INSERT INTO image_vulnerabilities (scan_id, position, id, aliases, package, version, severity, title)
         SELECT scan.id, place, 'CVE-' || place, '[]', 'left', '1.0.0', severity, 'It breaks'
         FROM scan, (VALUES (0, 'critical'), (1, 'low')) AS of (place, severity)
       )
       INSERT INTO deployments (id, server_id, version, type, status, stage, image_uri, scan_result, scan_id)
       SELECT 'dep_' || substr($1, 5), $1, 1, 'deploy', 'failed', 'failed', 'oci:/nowhere',
         '{"critical":1,"high":0,"medium":0}', scan.id FROM scan`,
      [id]
    )
    const deployment = `/v1/servers/${id}/deployments/dep_${id.slice(4)}`
    const answer = await owner.get<{ data: unknown; meta: unknown }>(`${deployment}/vulnerabilities`)
    const found = (place: number, severity: string) => ({
      id: `CVE-${place}`,
      aliases: [],
      package: "left",
      version: "1.0.0",
      fixedVersion: null,
      severity,
      title: "It breaks",
      url: null
    })
    expect([answer.status, answer.body]).toEqual([200, {
      data: [found(0, "critical"), found(1, "low")],
      meta: { cursor: null, hasMore: false, total: 2, scanned: true }
    }])
    const { body } = await owner.get<{ data: { trivyScanResult: unknown } }>(deployment)
    expect(body.data.trivyScanResult).toEqual({ critical: 1, high: 0, medium: 0 })
  }
)
