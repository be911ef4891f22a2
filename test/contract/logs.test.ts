import { ulid } from "ulid"
import { beforeAll, describe, expect } from "vitest"
import { type Account, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure, id, timestamp } from "./shapes.ts"

interface Entry {
  readonly id: string
  readonly message: string
  readonly level: string
}
interface Page {
  readonly data: { readonly items: ReadonlyArray<Entry>; readonly hasMore: boolean; readonly cursor: string | null }
}

const berth = useBerth()
let owner: Account
let server: Server
const count = 210

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  server = await owner.server((await owner.project()).id)
  await runSql(
    berth.databaseUrl,
    `INSERT INTO server_logs (id, server_id, level, message, timestamp)
     SELECT 'log_' || $3 || lpad(n::text, 4, '0'), $1,
       (ARRAY['debug', 'info', 'warn', 'error'])[n % 4 + 1], 'Line ' || n, now()
     FROM generate_series(1, $2::int) AS n`,
    [server.id, count, ulid().slice(0, 22)]
  )
})

const read = (query = "") => owner.get<Page>(`/v1/servers/${server.id}/logs${query}`)
const numbers = ({ data }: Page) => data.items.map(({ message }) => Number(message.slice(5)))
const refusal = (path: string) => failure("BAD_REQUEST", { issues: [{ path, message: expect.any(String) }] })

describe("logs", () => {
  row("GET /v1/servers/:serverId/logs → 200 { data: { items[], hasMore, cursor } }", async () => {
    const answer = await read("?limit=1")
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      data: { items: [expect.any(Object)], hasMore: true, cursor: expect.any(String) }
    })
    const quiet = await owner.server(server.projectId)
    expect((await owner.get(`/v1/servers/${quiet.id}/logs`)).body).toEqual({
      data: { items: [], hasMore: false, cursor: null }
    })
  })

  row("a log entry has id, serverId, level, message, timestamp with milliseconds", async () => {
    expect((await read("?limit=1")).body.data.items[0]).toEqual({
      id: id("log"),
      serverId: server.id,
      level: "warn",
      message: `Line ${count}`,
      timestamp
    })
  })

  row("level is debug, info, warn or error", async () => {
    for (const [at, level] of ["debug", "info", "warn", "error"].entries()) {
      const { body } = await read(`?level=${level}&limit=200`)
      expect(new Set(body.data.items.map((item) => item.level))).toEqual(new Set([level]))
      expect(numbers(body).every((n) => n % 4 === at)).toBe(true)
    }
    for (const level of ["", "INFO", "fatal", "info,warn"]) {
      const answer = await read(`?level=${level}`)
      expect([answer.status, answer.body], level).toEqual([400, refusal("level")])
    }
  })

  row("search is a case-insensitive substring of the message", async () => {
    expect(numbers((await read("?search=LINE%2021")).body)).toEqual([210, 21])
    expect(numbers((await read("?search=e%20210&level=warn")).body)).toEqual([210])
    // The pattern language of the database means nothing here.
    for (const search of ["%25", "_", "Line%20_", "%5C", "%5C%25", "'"]) {
      expect(numbers((await read(`?search=${search}`)).body), search).toEqual([])
    }
  })

  row("limit of logs is 1 to 200, default 50", async () => {
    const lengths: ReadonlyArray<readonly [string, number]> = [["", 50], ["?limit=1", 1], ["?limit=200", 200]]
    for (const [query, length] of lengths) {
      expect((await read(query)).body.data.items.length, query).toEqual(length)
    }
    for (const limit of ["0", "201", "-1", "1.5", "x", ""]) {
      const answer = await read(`?limit=${limit}`)
      expect([answer.status, answer.body], limit).toEqual([400, refusal("limit")])
    }
  })

  row("GET /v1/servers/:serverId/logs as an event stream", async () => {
    const quiet = await owner.server(server.projectId)
    const hangUp = new AbortController()
    const response = await fetch(`${berth.url}/v1/servers/${quiet.id}/logs?level=warn`, {
      headers: { accept: "text/event-stream", authorization: `Bearer ${owner.token}` },
      signal: hangUp.signal
    })
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^text\/event-stream/)
    ])
    await runSql(
      berth.databaseUrl,
      `INSERT INTO server_logs (id, server_id, level, message, timestamp) VALUES ($1, $2, 'info', 'not this', now()),
         ($3, $2, 'warn', 'this', now())`,
      [`log_${ulid()}`, quiet.id, `log_${ulid()}`]
    )
    const { body } = await owner.get<Page>(`/v1/servers/${quiet.id}/logs?level=warn`)
    const [entry] = body.data.items
    let text = ""
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk)
      if (/data: .*\n\n/.test(text)) break
    }
    hangUp.abort()
    const [, event, eventId, data] = /event: (.*)\nid: (.*)\ndata: (.*)\n\n/.exec(text) ?? []
    expect([event, eventId, JSON.parse(data ?? "null")]).toEqual(["log", entry?.id, entry])
  })

  row(
    "before is the cursor of a previous response and returns older entries; newest first; hasMore ends it",
    async () => {
      const seen: Array<number> = []
      let query = "?limit=100"
      for (;;) {
        const { body } = await read(query)
        seen.push(...numbers(body))
        if (!body.data.hasMore) break
        query = `?limit=100&before=${encodeURIComponent(body.data.cursor ?? "")}`
      }
      expect(seen).toEqual(Array.from({ length: count }, (_, n) => count - n))
      const other = await owner.server(server.projectId)
      const { cursor } = (await read("?limit=1")).body.data
      for (const [path, before] of [[server.id, "garbage"], [server.id, ""], [other.id, cursor]] as const) {
        const answer = await owner.get(`/v1/servers/${path}/logs?before=${before}`)
        expect([answer.status, answer.body], String(before)).toEqual([400, failure("BAD_REQUEST")])
      }
    }
  )
})
