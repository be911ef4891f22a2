import { followLog } from "#src/cli/hosting/log-stream.ts"
import { connect } from "#src/cli/hosting/platform.ts"
import { newUlid } from "#src/shared/ids.ts"
import { FetchHttpClient } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Server } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { DatabaseProxy } from "../../support/proxy.ts"
import { runSql } from "../../support/sql.ts"

const layer = Layer.merge(NodeContext.layer, FetchHttpClient.layer)

describe("berth logs --follow", () => {
  const berth = useBerth()
  let owner: Account
  let server: Server
  beforeAll(async () => {
    owner = await berth.signUp("pro")
    server = await owner.server((await owner.project()).id)
  })
  const say = (message: string) =>
    runSql(
      berth.databaseUrl,
      "INSERT INTO server_logs (id, server_id, level, message, timestamp) VALUES ($3, $1, 'info', $2, now())",
      [server.id, message, `log_${newUlid()}`]
    )

  it("goes on after a lost connection with the first line that was not seen", async () => {
    const proxy = new DatabaseProxy()
    const url = await proxy.through(berth.url)
    const seen: Array<string> = []
    const fiber = Effect.runFork(
      Effect.flatMap(
        connect({ url: url.replace(/\/$/, ""), token: Option.some(Redacted.make(owner.token)) }),
        (connected) =>
          Stream.runForEach(
            followLog(connected, server.id, undefined),
            ({ message }) => Effect.sync(() => void seen.push(message))
          )
      ).pipe(Effect.provide(layer))
    )
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      await say("1")
      await expect.poll(() => seen, { timeout: 15_000 }).toEqual(["1"])
      await proxy.cut()
      await say("2")
      await say("3")
      await proxy.mend()
      await expect.poll(() => seen, { timeout: 15_000 }).toEqual(["1", "2", "3"])
    } finally {
      await Effect.runPromise(Fiber.interrupt(fiber))
      await proxy.cut()
    }
  })

  it("ends when the installation says no", async () => {
    const connected = await Effect.runPromise(
      connect({ url: berth.url, token: Option.some(Redacted.make("svc_sess_wrong")) }).pipe(Effect.provide(layer))
    )
    const end = Stream.runDrain(followLog(connected, server.id, undefined)).pipe(Effect.flip, Effect.provide(layer))
    expect(await Effect.runPromise(end)).toMatchObject({ _tag: "Refused", status: 401 })
  })
})
