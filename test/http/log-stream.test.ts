import { newUlid } from "#src/shared/ids.ts"
import { assert, beforeAll, describe, it } from "vitest"
import { type Account, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
let server: Server

interface Event {
  readonly id: string
  readonly data: { readonly id: string; readonly message: string; readonly level: string }
}

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  server = await owner.server((await owner.project()).id)
})

const write = async (level: string, message: string) => {
  const id = `log_${newUlid()}`
  await runSql(
    berth.databaseUrl,
    "INSERT INTO server_logs (id, server_id, level, message, timestamp) VALUES ($1, $2, $3, $4, now())",
    [id, server.id, level, message]
  )
  return id
}

const open = (query = "", headers: Record<string, string> = {}, token = owner.token, signal?: AbortSignal) =>
  fetch(`${berth.url}/v1/servers/${server.id}/logs${query}`, {
    headers: { accept: "text/event-stream", authorization: `Bearer ${token}`, ...headers },
    ...(signal === undefined ? {} : { signal })
  })

/** Reads until `count` events came, and hangs up; `onOpen` runs once the stream is open. */
const read = async (count: number, options: { query?: string; last?: string; onOpen?: () => Promise<unknown> }) => {
  const stop = new AbortController()
  const headers = options.last === undefined ? {} : { "last-event-id": options.last }
  const response = await open(options.query, headers, owner.token, stop.signal)
  let events: ReadonlyArray<Event> = []
  let text = ""
  let ready = false
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk)
    if (!ready && text.startsWith(": open\n\n")) {
      ready = true
      await options.onOpen?.()
    }
    events = [...text.matchAll(/event: log\nid: (\S+)\ndata: (.*)\n\n/g)].map(([, id, data]) => ({
      id: id ?? "",
      data: JSON.parse(data ?? "") as Event["data"]
    }))
    if (events.length >= count) break
  }
  stop.abort()
  return { response, events }
}

const messages = ({ events }: { events: ReadonlyArray<Event> }) => events.map(({ data }) => data.message)

describe("a server's log as a stream", () => {
  it("sends what is written from now on, in order, as events named log whose id is the entry's", async () => {
    await write("info", "before")
    let id = ""
    const got = await read(2, {
      onOpen: async () => {
        id = await write("info", "first")
        await write("warn", "second")
      }
    })
    assert.strictEqual(got.response.headers.get("content-type"), "text/event-stream; charset=utf-8")
    assert.deepStrictEqual(messages(got), ["first", "second"])
    assert.strictEqual(got.events[0]?.id, id)
    assert.strictEqual(got.events[0]?.data.id, id)
  })

  it("is only for who would rather have it than JSON", async () => {
    for (const accept of ["application/json, text/event-stream;q=0.5", "text/event-stream;q=0", "*/*"]) {
      const answer = await open("", { accept })
      assert.match(answer.headers.get("content-type") ?? "", /^application\/json/, accept)
      assert.property(await answer.json(), "data")
    }
  })

  it("goes on after Last-Event-ID", async () => {
    const seen = await write("info", "seen")
    await write("info", "missed")
    assert.deepStrictEqual(messages(await read(1, { last: seen })), ["missed"])
  })

  it("is filtered by level and search", async () => {
    const seen = await write("info", "mark")
    await write("info", "kettle boils")
    await write("error", "pan burns")
    await write("error", "kettle burns")
    assert.deepStrictEqual(messages(await read(1, { last: seen, query: "?level=error&search=KETTLE" })), [
      "kettle burns"
    ])
  })

  it("refuses as the paged form does: 400, 401, 403, 404", async () => {
    const stranger = await berth.signUp()
    const key = await owner.key(server.projectId, ["deployments:read"])
    assert.strictEqual((await open("?level=loud")).status, 400)
    assert.strictEqual((await open("", {}, "svc_sess_nobody")).status, 401)
    assert.strictEqual((await open("", {}, key.key)).status, 403)
    assert.strictEqual((await open("", {}, stranger.token)).status, 404)
  })

  it("ends when the server is deleted", async () => {
    const response = await open()
    const ended = response.text()
    await owner.delete(`/v1/servers/${server.id}`)
    assert.match(await ended, /^: open\n\n/)
  })
})
